// Package retrieve finds evidence for a question: entry by vector and keyword
// index, a walk through the trees, parent-relative refinement and a choice
// under a token budget. It works without any model call. It is called by
// generate and eval and knows nothing of HTTP.
package retrieve
