// Package library keeps the durable state of one data folder: the catalog of
// sources and jobs, the work queue, finished answers, and bytes (content,
// clips, frames, trees, vectors). It is opened by cli and fills the interfaces
// that ingest, retrieve and server declare; it never interprets a tree.
//
// Layout of the folder, version 1:
//
//	lock      held (flock) by the one process that owns the folder; JSON with
//	          process id, address and local token of the running service; empty
//	          after an orderly end
//	version   "1"
//	nats/     the store of the embedded JetStream server: the buckets sources,
//	          jobs and answers, the work queue and the list of dead tasks
//	blobs/    KIND/TENANT/SOURCE[/NODE]; kinds clips, content, derived, frames,
//	          replies, subtitles, trees, vectors, and plans/TENANT/JOB;
//	          notes/TENANT/KEY names a source that has the reply of that key
//	tmp/      content on its way in; emptied at every start
//	salvage.json
//	          records that a repair carries over; there only while it goes on
//
// Whatever is not plain lower-case letters, digits and dashes is written as _
// and its bytes in hex, so nothing a user chose becomes a path or a subject.
// Content is named by its hash, frames lie side by side and are named by
// theirs; every other blob begins with the SHA-256 of the rest. A blob is
// written beside its place, synced and renamed, and its folder is synced before
// the call returns.
package library
