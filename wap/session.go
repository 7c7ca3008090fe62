package wap

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// startAttempt records that a process begins to execute the task, so that
// overlaps can be seen afterwards. Nothing depends on the record but that.
func (s *session) startAttempt(ctx context.Context) error {
	id := s.w.cfg.NewID()
	a := &manifest.Attempt{
		Format: manifest.Format, Run: s.rec.Run.Run, Generation: s.rec.Generation, Task: s.task, Attempt: id,
		Started: s.w.cfg.Now(), Host: hostname(), PID: int64(os.Getpid()), Try: s.w.cfg.Try, Version: s.w.cfg.Version,
	}
	if _, err := s.w.create(ctx, manifest.AttemptKey(a.Run, a.Generation, a.Task, id), a); err != nil {
		return err
	}
	s.attempt = id
	return nil
}

// result is the session as begin reports it.
func (s *session) result() *BeginResult {
	r := &BeginResult{
		Run: s.rec.Run.Run, Generation: s.rec.Generation, Task: s.task, Attempt: s.attempt, State: s.rec.State,
		Scope: s.rec.Scope, Inputs: s.pin.summary(), Now: s.rec.Now,
	}
	if s.rec.Base != nil {
		r.Base.Sequence = s.rec.Base.Sequence
	}
	if s.sealed != nil {
		r.SealedBy = s.sealed.Attempt
	}
	if s.rec.Published != nil && final(s.rec.State) {
		r.Sequence = s.rec.Published.Sequence
	}
	if s.attempt == "" {
		return r
	}
	for _, table := range s.scope.Tables() {
		url := s.w.cfg.Location.URL(strings.TrimSuffix(s.dataPrefix(table), "/")) + "/"
		r.Staging = append(r.Staging, Staging{table, url})
	}
	if len(r.Staging) == 1 {
		r.StagingURL = r.Staging[0].URL
	}
	return r
}

// Environment is what a command is told about its attempt, as KEY=value: all
// but what needs a local folder.
func (w *Warehouse) Environment(b *BeginResult) []string {
	env := []string{
		"WAP_RUN=" + b.Run,
		"WAP_TASK=" + b.Task,
		"WAP_ATTEMPT=" + b.Attempt,
		"WAP_GENERATION=" + strconv.FormatInt(b.Generation, 10),
		"WAP_IDEMPOTENCY_KEY=" + w.idempotencyKey(b),
		"WAP_NOW=" + b.Now.Format("2006-01-02T15:04:05.999Z07:00"),
	}
	if b.StagingURL != "" {
		env = append(env, "WAP_STAGING_URL="+b.StagingURL, "WAP_STAGING_URL_S3A="+s3a(b.StagingURL))
	}
	scope, err := manifest.ParseScope(b.Scope)
	if err != nil {
		return env
	}
	if p, one := scope.Single(); one {
		env = append(env, "WAP_PARTITION="+p.Path)
		for _, k := range p.Keys {
			env = append(env, "WAP_KEY_"+variable(k.Name)+"="+k.Value)
		}
	}
	return env
}

// foreign is an environment without what an outer step told its own command: a
// variable that this step does not set must not be the other's.
func foreign(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "WAP_PARTITION", "WAP_STAGING_URL", "WAP_STAGING_URL_S3A", "WAP_INPUTS", "WAP_INPUT_URLS", "WAP_INPUTS_SQL":
			return true
		}
		return strings.HasPrefix(name, "WAP_KEY_")
	})
}

// idempotencyKey is the same over all attempts of a task's generation.
func (w *Warehouse) idempotencyKey(b *BeginResult) string {
	id := strings.Join([]string{w.id, b.Run, strconv.FormatInt(b.Generation, 10), b.Task}, "\x00")
	return manifest.SHA256Hex([]byte(id))[:32]
}

// s3a is the scheme that Hadoop's engines know S3 by.
func s3a(url string) string {
	if rest, ok := strings.CutPrefix(url, "s3://"); ok {
		return "s3a://" + rest
	}
	return url
}

// variable turns a key's name into the tail of an environment variable.
func variable(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}
