// Package wap is the run: a batch task writes Parquet into a staging prefix,
// assertions judge the staged bytes, and one conditional put makes all of them
// visible, or nothing. It needs an object store with create-if-absent and
// compare-and-swap on single objects (package store), and nothing else: no
// server, no lease, no clock.
//
// # What is stored
//
// Everything lies below the warehouse's root; package manifest has the types.
//
//	_wap/warehouse.json           format and id; written last by init
//	_wap/refs/main.json           the pointer: the one mutable object readers follow
//	_wap/snapshots/               history, one object an entry, linked by parents
//	_wap/trees/                   path components to sub-trees or manifests, as git does
//	_wap/open/<run>.g<n>          a mark for each generation that is not over
//	_wap/runs/<run>/run.json      the run record, changed by compare-and-swap, never deleted
//	_wap/runs/<run>/g<n>/…        inputs, attempts, seals, evidence, manifests: written once
//	_wap/data/<table>/<run>/g<n>/<task>/<attempt>/…   Parquet; stays here when published
//
// # States
//
//	(absent) → opening → open → closing → frozen → published → revoked
//	                      ↑        |       ↑ |
//	                      +--------+       | ↓
//	               (a task is missing)   rejected
//
// and from any of these but published: aborting → aborted. A redo takes a run
// that is over to opening, as its next generation.
//
// The record is a cache: history outranks it. Every call reads the record, then
// the pointer's lineage down to the run's first base, and settles the record to
// what the newest entry about its generation says, before it answers from it
// (record.go). A call may be killed at any instruction: the comment beside each
// write says what a crash there leaves and who repairs it.
//
// # Publishing
//
// A publisher (publish.go, plan.go, send.go)
//
//  1. reads the pointer,
//  2. looks whether the run is in its lineage already,
//  3. compares what each partition holds now with what it held when the evidence
//     was made: a difference is a lost race, or, in mode append, stale evidence;
//     and asks again whatever else the evidence says was read (reads.go): another
//     answer is stale evidence, too,
//  4. reads the run record again: it must be frozen with the same candidate and
//     passing evidence, else everything starts over,
//  5. writes the changed nodes of the tree and a snapshot,
//  6. swaps the pointer, and reads it back whatever the answer was.
//
// The swap is the commit. Its answer is never trusted to say no: a refusal may
// follow from our own first send, and silence may precede a late success. Only
// the pointer's lineage decides. While it has not moved from what the body was
// made for, the identical bytes are sent again; once it has moved without us,
// the body can never land, because no pointer's bytes ever repeat.
//
// # Stopping a publisher
//
// Abort, redo, and an audit that fails where passing evidence ever stood, take
// three steps in this order: the record leaves frozen; the pointer is seen to
// move once (a no-op snapshot, or somebody else's); the history is read. A
// publisher that read the record before the first step loses its swap to the
// second, and one that was faster is found by the third (stop.go).
//
// # Evidence
//
// An audit stores its report bound to the digests of candidate and rules, with
// the manifest that each partition held when it was judged and the one it will
// hold: what is published is, byte for byte, what was judged. A run whose mode
// is append is judged against the newest state, others against their base. What
// assertions compare with in other partitions is read from the newest state
// whatever the mode: evidence that went stale could never become fresh against
// an old one. Where a run writes what it is compared with, the candidate stands
// in for it (compared.go).
//
// # Where this differs from the first design
//
// Manifests are written when an audit passes, not when a run publishes: the
// evidence names them, so that a publish needs neither the seals nor a read per
// file, and nothing can come between what was judged and what is named.
//
// A redo in mode append takes the place of the files that the run's own earlier
// generations added: a fix and re-run must not add its rows twice.
//
// A run whose input is a path of the warehouse is not begun while the path is
// empty: its base would never see the input come. Nor is one whose scope has
// other keys than its table: found before a task runs, not after.
//
// WAP_INPUTS, WAP_INPUT_URLS and WAP_INPUTS_SQL name files: the listing of
// thousands of objects does not fit an environment.
//
// A staged object that is gone when it is judged is exit 4, as it is at the
// publish: it will not be there later. An audit that fails over a generation
// that turns out to be published is exit 0 with a warning: "the gate is closed"
// would not be true.
//
// A publish looks again at what the audit compared the candidate with, but not at
// local files: it may run on another machine.
//
// The pointer's recent entries carry the checksum of their snapshots too.
package wap
