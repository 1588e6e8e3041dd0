"""Many texts at once, on one model and one memory, in vLLM's words.

- `scheduler`: which tokens of which request a step runs, under a token budget
- `engine`: a model that runs what the scheduler has planned, on paged caches
- `speculate`: a draft that guesses, and a target that checks its guesses in one pass
- `trees`: guesses that branch, checked in one pass
- `beams`: beam search and samples, on rows that are shared
- `adapters`: LoRA, and the cached rows that an adapter voids
- `hardware`: the least time that a step can take on a known processor
- `simulate`: thousands of requests through the same scheduler, by a clock that `hardware` sets
- `batches`: a few texts under several policies, pass by pass
- `measured`: what those thousands have shown, kept in data/requests.json
- `chat`: what is sent, found and run from turn to turn

`forward` knows one text: a step of the engine calls it once per request.
"""
