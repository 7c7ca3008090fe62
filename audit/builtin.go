package audit

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// builtinKinds are on without being written.
func builtinKinds() []*kind {
	return []*kind{
		{
			name: "integrity", builtin: true, hint: "a gate that passes broken files is none",
			params: []param{{name: "mode", fallback: "referenced", read: word("referenced", "full")}},
			bind:   bindIntegrity,
		},
		{
			name: "schema_consistent", builtin: true, hint: "files that differ are judged by nobody",
			bind: func(_ *Check, b *binding) (assertion, error) {
				b.need(needFooters)
				return footing(judgeSchemas), nil
			},
		},
		{
			name: "partition_values", builtin: true, optional: true,
			params: []param{{name: "map", read: columnMap}},
			bind:   bindPartitionValue,
		},
		{
			name: "not_empty", builtin: true, hint: "write `allow_empty: true`",
			bind: func(_ *Check, b *binding) (assertion, error) {
				b.need(needFooters)
				return footing(judgeEmpty), nil
			},
		},
		{
			name: "no_stray_files", builtin: true, optional: true,
			bind: func(*Check, *binding) (assertion, error) { return footing(judgeStray), nil },
		},
		{
			name: "shrink", builtin: true, optional: true,
			params: []param{{name: "max_drop", fallback: number{unscaled: big.NewInt(5), scale: 1}, read: share}},
			bind: func(c *Check, b *binding) (assertion, error) {
				b.need(needFooters)
				return footing(func(p *judgement) verdict { return judgeShrink(c, p) }), nil
			},
		},
		{
			name: "no_duplicate_content", builtin: true, optional: true,
			bind: func(*Check, *binding) (assertion, error) { return footing(judgeContent), nil },
		},
	}
}

// footing is an assertion that needs no page: it is asked once the scan is done.
type footing func(p *judgement) verdict

func (f footing) open(*unit) state                                     { return nil }
func (f footing) merge(state)                                          {}
func (f footing) finish(_ context.Context, p *judgement) (out verdict) { return f(p) }

func bindIntegrity(c *Check, b *binding) (assertion, error) {
	mode, _ := get[string](c, "mode")
	b.full = mode == "full"
	return footing(func(p *judgement) verdict { return judgeIntegrity(mode, p) }), nil
}

// judgeIntegrity: bytes that cannot be decoded are an error; a wrong checksum,
// a wrong row count, or text that is not UTF-8 is a failure.
func judgeIntegrity(mode string, p *judgement) verdict {
	v := verdict{
		grade: GradeScan, tested: p.rows, observed: "sound",
		expected: "every page that is read decodes, checksums and row counts are right",
	}
	if mode == "full" {
		v.expected = "every page decodes, checksums and row counts are right"
	}
	var failed []string
	var undecodable, outside *Failure
	for _, f := range p.faults {
		switch {
		case f.Cause == CauseOutside:
			outside = firstOf(outside, f.Failure)
		case f.undecodable:
			undecodable = firstOf(undecodable, f.Failure)
		default:
			failed = append(failed, f.File+": "+f.place())
		}
	}
	switch {
	case undecodable != nil:
		v.failure = undecodable
	case len(failed) > 0:
		v.observed, v.message = plural(len(failed), "fault"), failed[0]
		v.violations = int64(len(failed))
	case outside != nil:
		v.failure = outside
	default:
		v.holds = true
	}
	return v
}

func firstOf(have *Failure, f Failure) *Failure {
	if have != nil {
		return have
	}
	return &f
}

// place is the message with row group and column in front, where it lacks them.
func (f fault) place() string {
	text := f.Message
	if f.Column != "" && !strings.Contains(text, f.Column) {
		text = "column " + f.Column + ": " + text
	}
	return text
}

// faultOf is what integrity makes of an error met in a file.
func faultOf(f *openFile, err error) fault {
	out := fault{Failure: *failureIn(f, err), undecodable: true}
	var bad *scan.Error
	if errors.As(err, &bad) && (bad.Reason == scan.BadChecksum || bad.Reason == scan.BadRows) {
		out.undecodable = false
	}
	return out
}

func judgeSchemas(p *judgement) verdict {
	v := verdict{
		holds: p.drifts == nil, grade: GradeFooter, tested: p.rows,
		observed: "one schema", expected: "all files have the same columns with the same types",
	}
	if p.drifts != nil {
		v.observed, v.message = "schemas differ", p.drifts.Message
	}
	return v
}

func judgeEmpty(p *judgement) verdict {
	v := verdict{
		holds: p.rows > 0 || p.config.allowEmpty, grade: GradeFooter, tested: p.rows,
		observed: plural(p.rows, "row") + " in " + plural(len(p.part.Files), "file"), expected: "at least one row",
	}
	if p.config.allowEmpty {
		v.expected = "any number of rows (allow_empty)"
	}
	if !v.holds {
		v.message = "the partition is empty; `allow_empty: true` allows that"
	}
	return v
}

func judgeStray(p *judgement) verdict {
	v := verdict{
		holds: len(p.part.Stray) == 0, grade: GradeFooter, tested: p.rows,
		observed: plural(len(p.part.Stray), "stray file"), expected: "data files alone",
	}
	if !v.holds {
		v.message = "not a data file: " + strings.Join(p.part.Stray, ", ")
		v.violations = int64(len(p.part.Stray))
	}
	return v
}

// judgeShrink warns; it never blocks.
func judgeShrink(c *Check, p *judgement) verdict {
	drop, _ := get[number](c, "max_drop")
	before := p.part.Previous.Rows
	v := verdict{
		warning: true, grade: GradeFooter, tested: p.rows,
		observed: fmt.Sprintf("%s, %d before", plural(p.rows, "row"), before),
		expected: fmt.Sprintf("at most %s fewer rows", shareOf(drop)),
	}
	// before − rows ≤ before · drop
	lost := new(big.Int).Mul(big.NewInt(before-p.rows), pow10(drop.scale))
	v.holds = lost.Cmp(new(big.Int).Mul(big.NewInt(before), drop.unscaled)) <= 0
	if !v.holds {
		v.message = fmt.Sprintf("the overwrite takes away %s of the rows", percentText(before-p.rows, before))
	}
	return v
}

func shareOf(n number) string {
	return number{new(big.Int).Mul(n.unscaled, big.NewInt(100)), n.scale}.reduced().String() + "%"
}

// judgeContent refuses a file whose bytes are live already, here or elsewhere in
// the table, or stand twice among the new files.
func judgeContent(p *judgement) verdict {
	seen := map[string]string{}
	for _, f := range p.part.Live {
		if f.SHA256 != "" {
			seen[f.SHA256] = f.Key
		}
	}
	unknown := int64(0)
	var found []string
	for _, f := range p.part.Files {
		if f.SHA256 == "" {
			unknown++
			continue
		}
		twin, twice := seen[f.SHA256]
		if !twice && p.audit.opts.LiveSHA256 != nil {
			twin, twice = p.audit.opts.LiveSHA256(f.SHA256)
		}
		if twice {
			found = append(found, fmt.Sprintf("%s has the bytes of %s", f.Key, twin))
		}
		seen[f.SHA256] = f.Key
	}
	v := verdict{
		holds: len(found) == 0, grade: GradeFooter, tested: p.rows, violations: int64(len(found)),
		observed: fmt.Sprintf("%d of %d files live already", len(found), len(p.part.Files)),
		expected: "files whose bytes are new",
		counts:   []Count{{"files_without_checksum", unknown}},
	}
	if len(found) > 0 {
		v.message = found[0]
	}
	return v
}
