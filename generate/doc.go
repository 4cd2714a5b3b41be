// Package generate turns evidence into answers people can check. It asks
// retrieve for evidence, sends it out before any word, and writes the answer:
// sentences of the evidence themselves, or the words of a chat model that may
// name evidence by number only. Times, frames and quotes come from here, never
// from a model. It is called by server and cli and holds no state between
// questions.
package generate
