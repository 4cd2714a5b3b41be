// Package library keeps the durable state of one data folder: the catalog of
// sources and jobs, the work queue, finished answers, and bytes (content,
// clips, frames, trees, vectors). It is opened by cli and fills the interfaces
// that ingest, retrieve and server declare; it never interprets a tree.
//
// Layout of the folder:
//
//	lock    held (flock) by the one process that owns the folder; JSON with
//	        the address and local token of the running service
//	nats/   the store of the embedded JetStream server: catalog, queue, answers
//	blobs/  content, clips, frames, trees, plans, subtitles, vectors
//	tmp/    content on its way in; emptied at every start
package library
