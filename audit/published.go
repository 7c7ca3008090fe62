package audit

import (
	"context"
	"errors"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// Published is what assertions compare a partition with: what readers see
// already, and what the partition's producer declared. An implementation reads
// one state for a whole audit, and remembers what was asked of it. Its methods
// may be called at once for several partitions. An error that wraps ErrAbsent
// says that asking again will not help.
type Published interface {
	// Baseline returns published states, the newest first; none is no error. The
	// candidate is never among them, nor what no run published or what was undone.
	Baseline(ctx context.Context, p *Partition, want Baseline) ([]*manifest.Manifest, error)
	// Data returns partitions to be read, sorted by path. With want.Path it is
	// what readers will see once the candidate is published, and an error when
	// nothing is there; with want.Live it may be nothing.
	Data(ctx context.Context, p *Partition, want Reference) ([]Partition, error)
	// Controls returns what a control file declares, flattened to dotted names; a
	// name may stand once for each task. A text is itself, but for one that is null
	// or begins with a quote: it is written in Go's quotes.
	Controls(ctx context.Context, name string) ([]manifest.Control, error)
	// InputRows is how many rows the pinned inputs have.
	InputRows(ctx context.Context) (int64, error)
}

// ErrAbsent marks what an assertion is to be compared with and cannot be had,
// now or later.
var ErrAbsent = errors.New("there is nothing to compare with")

// Reference names published data.
type Reference struct {
	Path  string   // a table or partition[@REF]
	Files []string // local paths, folders and URLs
	Live  bool     // what the judged partition holds for readers
	// Published leaves the candidate out: what readers see now.
	Published bool
}

// nothingPublished stands in where an audit has nothing to compare with.
type nothingPublished struct{}

func (nothingPublished) Baseline(context.Context, *Partition, Baseline) ([]*manifest.Manifest, error) {
	return nil, nil
}

func (nothingPublished) Data(_ context.Context, _ *Partition, want Reference) ([]Partition, error) {
	if want.Live {
		return nil, nil
	}
	return nil, errors.Join(errors.New("no warehouse is named"), ErrAbsent)
}

func (nothingPublished) Controls(context.Context, string) ([]manifest.Control, error) {
	return nil, errors.Join(errors.New("there is no run whose task could have written a control file"), ErrAbsent)
}

func (nothingPublished) InputRows(context.Context) (int64, error) {
	return 0, errors.Join(errors.New("there is no run whose inputs could be counted"), ErrAbsent)
}

func (a *audit) published() Published {
	if a.opts.Published == nil {
		return nothingPublished{}
	}
	return a.opts.Published
}

// publishedFailure tells what will never be there from what could not be had.
func (p *judgement) publishedFailure(err error) *Failure {
	var file *fileFailure
	var known failed
	var bad *scan.Error
	switch {
	case errors.As(err, &known):
		return known.Failure
	case errors.As(err, &file):
		return p.failureOf(err)
	case errors.Is(err, ErrAbsent), errors.As(err, &bad):
		return &Failure{Cause: CauseData, Message: absentText(err)}
	}
	return &Failure{Cause: CauseOutside, Message: err.Error()}
}

// absentText leaves the mark out of the message, wherever it was joined on.
func absentText(err error) string {
	if err == ErrAbsent {
		return err.Error()
	}
	text := strings.TrimSuffix(err.Error(), ErrAbsent.Error())
	return strings.TrimRight(text, "\n")
}
