package wap

import (
	"slices"

	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// trouble is one way to go wrong.
type trouble struct {
	act    s3test.Act
	answer s3test.Answer
	read   bool // the read after the write goes wrong, not the write
	always bool // and so do all that follow
}

func (x trouble) String() string {
	what := x.act.String() + ", " + x.answer.String()
	if x.read {
		what = "read " + what
	}
	if x.always {
		what += ", always"
	}
	return what
}

// acts reports whether the write takes effect as soon as it is sent.
func (x trouble) acts() bool {
	return x.read || x.act == s3test.Forward || x.act == s3test.Twice || x.act == s3test.Strip
}

// definite reports whether the sender of a write is told that it did not act,
// and that is so.
func (x trouble) definite() bool {
	return x.act == s3test.Drop && slices.Contains([]s3test.Answer{s3test.FailedPage, s3test.Denied, s3test.Moved}, x.answer)
}

// troubles lists what happens to writes, and to reads. A definite refusal of a
// write that is on its way is not among them: that is a lie.
func troubles() []trouble {
	var out []trouble
	add := func(act s3test.Act, answers ...s3test.Answer) {
		for _, a := range answers {
			out = append(out, trouble{act: act, answer: a})
		}
	}
	add(s3test.Forward, s3test.Genuine, s3test.Reset, s3test.InternalError, s3test.SlowDown, s3test.InConflict, s3test.FailedPage,
		s3test.ErrorInside, s3test.NoETag)
	add(s3test.Drop, s3test.Reset, s3test.InternalError, s3test.SlowDown, s3test.InConflict, s3test.FailedPage,
		s3test.Denied, s3test.Moved, s3test.ErrorInside, s3test.NoETag)
	add(s3test.Hold, s3test.Reset, s3test.SlowDown)
	add(s3test.Twice, s3test.Genuine)
	add(s3test.Strip, s3test.Genuine)
	writes := len(out)
	add(s3test.Forward, s3test.NoETag, s3test.Truncated, s3test.Short, s3test.Stale)
	add(s3test.Drop, s3test.Reset, s3test.InternalError, s3test.SlowDown, s3test.Denied, s3test.Moved, s3test.ErrorInside)
	for i := writes; i < len(out); i++ {
		out[i].read = true
	}
	return out
}

// lasting are those that can go on for as long as a call does.
func lasting() []trouble {
	var out []trouble
	for _, x := range troubles() {
		if x.act != s3test.Twice && x.act != s3test.Strip && x.answer != s3test.Genuine && x.answer != s3test.Stale {
			x.always = true
			out = append(out, x)
		}
	}
	return out
}

// when is when a rival acts.
type when string

const (
	never   when = ""
	before  when = " before the write"
	between when = " between write and read"
)

// matrix lists the cases on a server. Every rival is met on MinIO by plain HTTP;
// on the other server, by TLS, the first one of each deed. What goes on for as
// long as a call does meets none, or one who does the same.
func (l *netLab) matrix(kind s3test.Kind) []*netCase {
	var out []*netCase
	for _, d := range deeds() {
		rivals := d.rivals
		if kind != s3test.MinIO {
			rivals = rivals[:2]
		}
		for _, r := range rivals {
			template := l.template(func(l *netLab, w *Warehouse) { d.prepare(l, w); r.prepare(l, w) })
			add := func(at when, all []trouble) {
				for _, x := range all {
					out = append(out, &netCase{trouble: x, deed: d, rival: r, when: at, tls: kind != s3test.MinIO, lab: l, template: template})
				}
			}
			if r.act == nil {
				add(never, troubles())
				add(never, lasting())
				continue
			}
			add(before, troubles())
			add(between, troubles())
			if r.twin {
				add(between, lasting())
			}
		}
	}
	return out
}
