"""What a page says, and in which language: numbers as text, the catalogue, the glossary, and where they lie."""
