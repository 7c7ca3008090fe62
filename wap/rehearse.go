package wap

import (
	"context"
	"time"

	"github.com/wap-cli/wap/audit"
)

// RehearseRequest asks whether rules can fail.
type RehearseRequest struct {
	Checks *audit.Config
	// Data is what Check takes for a target: its columns have the types that the
	// rules are tried with. Empty: those that the checks declare.
	Data string
}

// RehearseResult has a line for each rule.
type RehearseResult struct {
	Rules []audit.Rehearsal `json:"rules"`
}

// Rehearse makes, for every rule, data that violates it, and wants the rule to
// fail. Errors: usage, not_found, gate_closed (a rule that nothing fails, or that
// cannot be evaluated), outside.
func Rehearse(ctx context.Context, cfg Config, req RehearseRequest) (*RehearseResult, error) {
	cfg = cfg.withDefaults()
	c := &checked{cfg: cfg, index: map[string]*audit.Partition{}, seen: map[string]bool{}}
	var files []audit.File
	if req.Data != "" {
		if err := c.add(ctx, req.Data); err != nil {
			return nil, err
		}
		for _, p := range c.sorted() {
			files = append(files, p.Files...)
		}
	}
	rules, err := audit.Rehearse(ctx, req.Checks, files, audit.Options{Now: cfg.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		return nil, outside("test checks").because(err)
	}
	res := &RehearseResult{rules}
	var blind []string
	for _, r := range rules {
		if r.Outcome == audit.RuleVacuous || r.Outcome == audit.RuleError {
			blind = append(blind, r.ID)
		}
	}
	if len(blind) == 0 {
		return res, nil
	}
	return res, failf(KindGateClosed, "%d of %d rules cannot fail, or cannot be evaluated, first %s",
		len(blind), len(rules), blind[0]).hint("correct or remove them: they guard nothing")
}
