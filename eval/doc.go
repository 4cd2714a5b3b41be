// Package eval runs public benchmark tasks through the product's own path: a
// task's material becomes trees by the same build as everything else, its
// questions go to retrieve.Engine.Query, and what comes back is written as
// predictions and measured. No model is called. It is called by cli and is the
// only room that knows a task's name; the retriever never sees a gold field.
package eval
