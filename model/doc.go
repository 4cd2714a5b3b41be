// Package model asks models: chat and vision, embeddings and transcription
// over any OpenAI-style address, and the built-in embedder that needs none.
// cli wires it into the function types that tree, ingest, retrieve and
// generate declare.
//
// It owns whatever goes wrong between here and a model: concurrency, retries,
// deadlines, size caps, budgets, and the differences between servers. It never
// decides prompts and never logs, prints or returns a key. It is the only
// importer of go-openai.
package model
