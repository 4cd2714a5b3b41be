// Package tree holds the nouns of reeltree (Source, Span, Cue, Node, Tree,
// Evidence, Job) and the one build that turns cut material into a description
// tree of exactly three levels: L2 from raw material, L3 with the L2 text
// injected, L1 from its L2 texts.
//
// BuildStretch owns the order. What is written comes from a Describer:
// Extractive chooses the source's own words and is default, fallback and test
// double; Vision asks a vision model through the function type Ask, and
// Remember keeps it from paying twice. Trees and nodes marshal to the native
// JSON format; ImportOriginal and ExportOriginal speak the original
// description-tree format. Tokens is the one measure of what a text costs.
//
// Every other room imports this package; it imports none of them, no C and no
// network.
package tree
