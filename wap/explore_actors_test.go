package wap

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
)

// report is what one call said to whoever made it.
type report struct {
	verb       string // of the call
	run        string
	code       int
	err        error
	generation int64
	sequence   int64 // of a publish
	state      manifest.State
	task       string
	attempt    string // this call's own
	sealedBy   string
	inputs     string // digest of what is pinned
	files      string // what a reader saw

	player *player
	at     int // steps into the execution
	// armed: the call said that this generation is not going to be published. It
	// stays so until somebody lets the same bytes pass by other rules.
	armed bool
}

func (r *report) String() string {
	s := fmt.Sprintf("%s %s g%d: %d %s", r.verb, r.run, r.generation, r.code, r.state)
	if r.err != nil {
		s += ": " + r.err.Error()
	}
	return s
}

// fingerprint holds everything that the checker looks at.
func (r *report) fingerprint() uint64 {
	return hashOf(fmt.Sprint(r.verb, r.code, r.generation, r.sequence, r.armed),
		fmt.Sprint(r.run, "/", r.state, "/", r.task, "/", r.attempt, "/", r.sealedBy, "/", r.inputs, "/", r.files))
}

// publisher makes a run visible; nil rules: by the evidence there is.
func (k *kit) publisher(name, run string, rules *audit.Rules) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) { c.publish(ctx, run, rules) }}
}

func (c *caller) publish(ctx context.Context, run string, rules *audit.Rules) {
	res, err := c.w.Publish(ctx, PublishRequest{Run: run, Rules: rules})
	r := report{verb: "publish", run: run, code: Code(err), err: err}
	if res != nil {
		r.generation, r.sequence = res.Generation, res.Sequence
	}
	c.say(r)
}

// auditor freezes and judges.
func (k *kit) auditor(name, run string, rules *audit.Rules) actor {
	return actor{name, func(ctx context.Context, c *caller) { c.audit(ctx, run, rules) }, rules == k.strict}
}

func (c *caller) audit(ctx context.Context, run string, rules *audit.Rules) (ok bool) {
	res, err := c.w.Audit(ctx, AuditRequest{Run: run, Rules: rules})
	r := report{verb: "audit", run: run, code: Code(err), err: err}
	if res != nil {
		r.generation, r.sequence, r.state = res.Generation, res.Sequence, res.State
	}
	c.say(r)
	return err == nil
}

// gatekeeper audits and publishes, as two commands.
func (k *kit) gatekeeper(name, run string) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		if c.audit(ctx, run, k.lax) {
			c.publish(ctx, run, nil)
		}
	}}
}

// aborter gives a run up.
func (k *kit) aborter(name, run string) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		res, err := c.w.Abort(ctx, run, "no")
		r := report{verb: "abort", run: run, code: Code(err), err: err}
		if res != nil {
			r.generation, r.sequence, r.state = res.Generation, res.Sequence, res.State
		}
		c.say(r)
	}}
}

// redoer begins a run anew as the next generation.
func (k *kit) redoer(name string, req RedoRequest) actor {
	req.Reason = "fix"
	return actor{name: name, act: func(ctx context.Context, c *caller) { c.redo(ctx, req) }}
}

func (c *caller) redo(ctx context.Context, req RedoRequest) (ok bool) {
	res, err := c.w.Redo(ctx, req)
	r := report{verb: "redo", run: req.Run, code: Code(err), err: err}
	if res != nil {
		r.generation, r.state = res.Generation, res.State
	}
	c.say(r)
	return err == nil
}

// sealer stages and seals a task's output by an attempt of its own.
func (k *kit) sealer(name, run, task, output string) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) { c.seal(ctx, run, task, output) }}
}

func (c *caller) seal(ctx context.Context, run, task, output string) (ok bool) {
	req := StageRequest{Run: run, Task: task, Dir: filepath.Join(c.kit.data, output)}
	res, err := c.w.Stage(ctx, req)
	r := report{verb: "seal", run: run, task: task, code: Code(err), err: err}
	if res != nil {
		r.generation, r.state, r.task, r.attempt, r.sealedBy = res.Generation, res.State, res.Task, res.Attempt, res.SealedBy
	}
	c.say(r)
	return err == nil
}

// beginner opens or joins a run.
func (k *kit) beginner(name string, req BeginRequest) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) { c.begin(ctx, req) }}
}

func (c *caller) begin(ctx context.Context, req BeginRequest) *BeginResult {
	res, err := c.w.Begin(ctx, req)
	r := report{verb: "begin", run: req.Run, code: Code(err), err: err}
	if res != nil {
		r.generation, r.state, r.task, r.attempt, r.sealedBy = res.Generation, res.State, res.Task, res.Attempt, res.SealedBy
		r.sequence, r.inputs = res.Sequence, res.Inputs.SHA256
	}
	c.say(r)
	if err != nil {
		return nil
	}
	return res
}

// stepper is the whole step: what `wap run` does around a command.
func (k *kit) stepper(name, run, output string, mode manifest.Mode) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		b := c.begin(ctx, BeginRequest{Run: run, Scope: []string{"orders/*"}, Mode: mode})
		if b == nil {
			return
		}
		if b.State != manifest.StatePublished && b.SealedBy == "" && !c.seal(ctx, run, "", output) {
			return
		}
		c.publish(ctx, run, k.lax)
	}}
}

// reader lists two partitions in one call, times over.
func (k *kit) reader(name string, times int) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		for range times {
			res, err := c.w.Files(ctx, []string{"orders"})
			r := report{verb: "read", code: Code(err), err: err}
			if res != nil {
				r.sequence = res.Sequence
				for _, f := range res.Files {
					r.files += f.Key + "\n"
				}
			}
			c.say(r)
		}
	}}
}

// initer makes the warehouse.
func (k *kit) initer(name string) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		res, err := Init(ctx, c.cfg)
		r := report{verb: "init", code: Code(err), err: err}
		if res != nil {
			r.files, r.sequence = res.Warehouse, res.Sequence
		}
		c.say(r)
	}}
}
