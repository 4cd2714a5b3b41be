// Package tree holds the nouns of reeltree (Source, Span, Cue, Node, Tree,
// Evidence, Job) and the one build that turns cut material into a description
// tree of exactly three levels: L2 from raw material, L3 with the L2 text
// injected, L1 from its L2 texts.
//
// Every other room imports it; it imports none of them, no C and no network.
// Describing is behind the Describer interface; the extractive describer of
// this package is both the default and the test double.
package tree
