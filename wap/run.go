package wap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wap-cli/wap/manifest"
)

// stopGrace is how long a command may take to end after it was told to, and how
// long what it left behind may hold its output open.
const stopGrace = 10 * time.Second

// Interrupted is the cause of a context that a signal ended.
type Interrupted struct{ Signal os.Signal }

func (i Interrupted) Error() string { return "interrupted by " + i.Signal.String() }

// RunTask is a task's whole step: begin, the command, stage, seal and, once
// every task has sealed, audit and publish. CMD runs at most once in a call,
// and not at all where its output stands already. Errors: those of Begin,
// Stage, Audit and Publish, and command_failed.
func (w *Warehouse) RunTask(ctx context.Context, req RunRequest) (*PublishResult, error) {
	res := &PublishResult{Run: req.Begin.Run}
	if err := checkRunRequest(req); err != nil {
		return res, err
	}
	s, err := w.begin(ctx, req.Begin)
	s.describe(res)
	p := &publisher{w: w, result: res, req: PublishRequest{
		Run: req.Begin.Run, Rules: req.Rules, Waivers: req.Waivers, AppendUnkeyed: req.AppendUnkeyed,
	}}
	switch {
	case err != nil && s != nil:
		return res, p.rejected(ctx, s.rec, err)
	case err != nil:
		return res, err
	case s.rec.State == manifest.StatePublished:
		return res, w.alreadyPublished(ctx, p, s)
	case s.task == "":
		return res, failf(KindUsage, "%s has %d tasks: which one is this?", s.rec.names(), len(s.rec.Tasks)).hint("--task NAME")
	}
	if s.sealed == nil {
		if err := s.perform(ctx, req, res); err != nil {
			s.describe(res)
			return res, err
		}
	} else {
		w.notify(Info, fmt.Sprintf("task %q is done already, %s; the command does not run", s.task, s.whose()), "")
	}
	s.describe(res)
	return res, w.finish(ctx, s, p, req)
}

// alreadyPublished says when, and how the run could be begun anew.
func (w *Warehouse) alreadyPublished(ctx context.Context, p *publisher, s *session) error {
	w.notify(Warning, fmt.Sprintf("%s is published already, at sequence %d; the command does not run", s.rec.names(), s.rec.Published.Sequence),
		fmt.Sprintf("wap redo %s --reason TEXT begins it anew", quote(s.rec.Run.Run)))
	w.forget(ctx, s.rec)
	return p.published(ctx, s.rec, *s.rec.Published)
}

// checkRunRequest refuses what would fail only after the command has run.
func checkRunRequest(req RunRequest) error {
	switch {
	case len(req.Command) == 0:
		return failf(KindUsage, "no command is given").hint("wap run SCOPE … -- CMD ARG…")
	case req.Until != "" && req.Until != "seal" && req.Until != "audit":
		return failf(KindUsage, "--until %q", req.Until).hint("seal or audit")
	case req.Rules == nil && req.Until != "seal":
		return failf(KindUsage, "no assertions are named").hint("--checks FILE, or --checks builtin for the built-in ones alone")
	}
	if _, err := exec.LookPath(req.Command[0]); err != nil {
		return failf(KindUsage, "command %q", req.Command[0]).because(err)
	}
	return nil
}

// describe copies what is known of the session into a result.
func (s *session) describe(res *PublishResult) {
	if s == nil || s.rec == nil {
		return
	}
	res.Generation, res.Task, res.Attempt = s.rec.Generation, s.task, s.attempt
	res.TasksAll = int64(len(s.rec.Tasks))
	if s.sealed != nil {
		res.SealedBy = s.sealed.Attempt
	}
}

// finish goes on from a sealed task as far as was asked, and as the other tasks
// allow.
func (w *Warehouse) finish(ctx context.Context, s *session, p *publisher, req RunRequest) error {
	res := p.result
	_, missing, err := w.seals(ctx, &s.rec.Run)
	if err != nil {
		return err
	}
	res.TasksDone = res.TasksAll - int64(len(missing))
	if len(missing) > 0 || req.Until == "seal" {
		res.Status = StatusSealed
		return nil
	}
	if req.Until == "audit" {
		v, err := w.Audit(ctx, AuditRequest{Run: p.req.Run, Rules: req.Rules, Waivers: req.Waivers, AppendUnkeyed: req.AppendUnkeyed})
		if v != nil {
			res.Report, res.Evidence, res.Sequence = v.Report, v.Evidence, v.Sequence
		}
		if err == nil {
			res.Status = StatusAudited
		}
		return err
	}
	return p.publish(ctx)
}

// perform runs the command in a folder of its own, uploads what it wrote and
// seals it.
func (s *session) perform(ctx context.Context, req RunRequest, res *PublishResult) error {
	if err := s.tellAttempts(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "wap-")
	if err != nil {
		return outside("create a folder for the output").because(err)
	}
	defer os.RemoveAll(dir) // what a full disk leaves here, the system's own cleaning takes
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o777); err != nil {
		return outside("create a folder for the output").because(err)
	}
	env, err := s.inputEnvironment(ctx, dir, req)
	if err != nil {
		return err
	}
	env = slices.Concat(foreign(req.Env), s.w.Environment(s.result()), env, []string{"WAP_OUT=" + out})
	if err := s.w.command(ctx, req, env, res); err != nil {
		return err
	}
	output, err := s.gather(ctx, out)
	if err != nil {
		return err
	}
	_, err = s.sealOutput(ctx, output, req.Seal)
	return err
}

// tellAttempts starts with what was found: how many attempts came before.
func (s *session) tellAttempts(ctx context.Context) error {
	attempts, err := s.w.attempts(ctx, s.rec, s.rec.Generation)
	if err != nil {
		return err
	}
	n, last := 0, time.Time{}
	for _, a := range attempts {
		if a.Task == s.task {
			n++
		}
		if a.Task == s.task && a.Attempt != s.attempt && a.Started.After(last) {
			last = a.Started
		}
	}
	text := fmt.Sprintf("%s: attempt %d of task %q", s.rec.names(), n, s.task)
	if n > 1 {
		text += fmt.Sprintf("; the one before began %s ago and sealed nothing", s.w.cfg.Now().Sub(last).Round(time.Second))
	}
	s.w.notify(Info, text, "")
	return nil
}

// gather uploads the local output and describes what the command wrote under
// the staging URL itself.
func (s *session) gather(ctx context.Context, dir string) (output, error) {
	files, controls, err := s.collectDir(dir)
	if err != nil {
		return output{}, err
	}
	staged, err := s.collectStaged(ctx)
	if err != nil {
		return output{}, err
	}
	if err := s.distinct(files, staged); err != nil {
		return output{}, err
	}
	out, err := s.upload(ctx, files)
	if err != nil {
		return output{}, err
	}
	out = out.merge(staged)
	out.controls = controls
	return out, nil
}

// command runs CMD in a process group of its own, and forwards the signal that
// ends ctx to the whole group.
func (w *Warehouse) command(ctx context.Context, req RunRequest, env []string, res *PublishResult) error {
	cmd := exec.CommandContext(ctx, req.Command[0], req.Command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, req.Stdin, req.Output, req.Output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = w.cfg.StopGrace
	cmd.Cancel = func() error {
		sig := syscall.SIGTERM
		var i Interrupted
		if s, ok := context.Cause(ctx).(Interrupted); ok {
			i = s
		}
		if s, ok := i.Signal.(syscall.Signal); ok {
			sig = s
		}
		return syscall.Kill(-cmd.Process.Pid, sig)
	}
	err := cmd.Run()
	if cmd.ProcessState != nil {
		res.CommandStatus = int64(cmd.ProcessState.ExitCode())
	}
	if ctx.Err() != nil {
		return outside("the command was stopped: %v", context.Cause(ctx)).because(errors.Join(err, killGroup(cmd))).
			hint("nothing was sealed; run the same command again")
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return failf(KindCommandFailed, "command %q ended and left a process running that holds its output open", strings.Join(req.Command, " ")).
			because(killGroup(cmd)).hint("let the command wait for what it starts, or redirect that elsewhere")
	}
	if err != nil {
		return failf(KindCommandFailed, "command %q failed", strings.Join(req.Command, " ")).because(err).
			hint("nothing was sealed; the run is open for a retry")
	}
	return nil
}

// killGroup ends what a stopped command left running: it is not the task's any
// more.
func killGroup(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil // it was stopped before it started
	}
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// merge adds the files of another output.
func (o output) merge(other output) output {
	var parts []manifest.Partition
	var files []manifest.File
	var schemas []manifest.Schema
	for _, from := range []output{o, other} {
		for _, p := range from.partitions {
			for _, f := range p.Files {
				parts, files, schemas = append(parts, p.Partition), append(files, f), append(schemas, from.schemas[f.Schema])
			}
		}
	}
	return assemble(parts, files, schemas)
}
