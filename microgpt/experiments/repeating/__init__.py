"""Why a model that always takes the likeliest token says the same again, and what temperature does to it."""
