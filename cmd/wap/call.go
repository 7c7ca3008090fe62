package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
	"github.com/wap-cli/wap/wap/store"
)

// call is one invocation of the program.
type call struct {
	system
	line     line
	cli      *cli.Context
	settings *settings
	meter    *meter
	page     *page
	plugins  *plugins
}

// guarded runs the call and prints its result. A panic becomes an error like
// any other: no stack traces, and 5 once a commit was sent.
func (c *call) guarded(ctx context.Context, args []string) (code int) {
	defer func() {
		if v := recover(); v != nil {
			code = c.report(nil, c.panicked(v))
		}
	}()
	r, err := c.execute(ctx, args)
	return c.report(r, err)
}

func (c *call) panicked(v any) error {
	e := &wap.Error{Kind: wap.KindOutside, Message: fmt.Sprintf("internal error: %v", v)}
	if c.meter.commitSent() {
		e.Kind = wap.KindUnknown
		e.Message += "; possibly published"
		e.Hint = c.settleHint()
	}
	return e
}

const settleAgain = "run the same command again: that is safe, and tells"

// settleHint is the command that tells what became of a commit.
func (c *call) settleHint() string {
	if c.settings != nil {
		if run, err := c.settings.value("run"); err == nil && run != "" {
			return "wap resolve --run " + shellQuote(run)
		}
	}
	return settleAgain
}

// rareCollections is how much the heap may grow before it is collected, in
// percent, while it is far from its limit.
const rareCollections = 400

// limitHeap has the collector keep the process within memory, an eighth of which
// is for what is not the heap's, and run less often below that. A lower limit
// that is set already stands, and so does $GOGC.
func (c *call) limitHeap(memory int64) {
	if limit := memory - memory/8; limit < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(limit)
	}
	if _, set := c.getenv("GOGC"); !set {
		debug.SetGCPercent(rareCollections)
	}
}

// execute takes the command line apart and runs the command.
func (c *call) execute(ctx context.Context, args []string) (result, error) {
	var err error
	c.line, err = parseLine(commands(), args)
	c.page.json = c.line.json
	if err != nil {
		return nil, err
	}
	if c.line.command == nil || c.line.help {
		return c.help(c.line.command)
	}
	var r result
	app := newApp(c.line.command, func(cc *cli.Context) error {
		c.cli = cc
		var err error
		r, err = c.invoke(ctx)
		return err
	})
	err = app.RunContext(ctx, append([]string{"wap", c.line.command.name}, c.line.flags...))
	return r, err
}

// newApp is the one command as urfave/cli sees it: flags without positionals,
// which stand in the line.
func newApp(cmd *command, action cli.ActionFunc) *cli.App {
	return &cli.App{
		Name:                      "wap",
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		Commands: []*cli.Command{{
			Name:            cmd.name,
			Flags:           cmd.allFlags(),
			HideHelp:        true,
			HideHelpCommand: true,
			Action:          action,
			OnUsageError: func(_ *cli.Context, err error, _ bool) error {
				return withHint(usage("%s", err), "wap help %s", cmd.name)
			},
		}},
	}
}

// invoke runs the command with its settings at hand.
func (c *call) invoke(ctx context.Context) (result, error) {
	c.page.json, c.page.quiet = c.cli.Bool("json"), c.cli.Bool("quiet")
	s, err := loadSettings(c)
	if err != nil {
		return nil, err
	}
	c.settings = s
	color, err := s.color()
	if err != nil {
		return nil, err
	}
	c.page.setStyle(color)
	stop := c.meter.show(c.page, c.cli.Bool("no-progress"))
	defer stop()
	r, err := c.line.command.run(ctx, c)
	if closeErr := c.plugins.close(); closeErr != nil {
		c.page.warning(fmt.Sprintf("remove downloads: %s", closeErr), "")
	}
	return r, err
}

// report prints result and error and returns the exit code, by wap's table.
func (c *call) report(r result, err error) int {
	c.fillHint(err)
	code := wap.Code(err)
	if printErr := c.page.result(r, err); printErr != nil {
		if code == 0 && !c.meter.commitSent() {
			err = &wap.Error{Kind: wap.KindOutside, Message: "write the result to stdout", Err: printErr}
			code = wap.Code(err)
		} else {
			c.page.warning(fmt.Sprintf("write the result to stdout: %s", printErr), "")
		}
	}
	if err != nil {
		c.page.failure(err)
	}
	return code
}

// fillHint says what to do about an error that does not say so itself.
func (c *call) fillHint(err error) {
	var e *wap.Error
	if !errors.As(err, &e) || e.Hint != "" {
		return
	}
	switch e.Kind {
	case wap.KindUsage:
		if e.Hint = "wap help"; c.line.command != nil {
			e.Hint += " " + c.line.command.name
		}
	case wap.KindOutside:
		e.Hint = "the same command again, when the cause is gone: that is safe"
	case wap.KindGateClosed:
		e.Hint = "the report says what failed, and where"
	}
}

// open opens the warehouse that the call names.
func (c *call) open(ctx context.Context) (*wap.Warehouse, error) {
	cfg, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	return wap.Open(ctx, cfg)
}

// config is the library's configuration with the warehouse's store in it.
func (c *call) config(ctx context.Context) (wap.Config, error) {
	cfg, err := c.baseConfig()
	if err != nil {
		return wap.Config{}, err
	}
	url, err := c.settings.value("warehouse")
	if err != nil {
		return wap.Config{}, err
	}
	if url == "" {
		return wap.Config{}, withHint(usage("no warehouse given"), "give --warehouse URL, or set WAP_WAREHOUSE, or write it into wap.yaml")
	}
	return cfg, c.attach(ctx, &cfg, url)
}

// attach puts the store at url into the configuration.
func (c *call) attach(ctx context.Context, cfg *wap.Config, url string) (err error) {
	cfg.Store, cfg.Location, err = cfg.OpenStore(ctx, url)
	c.plugins.location = cfg.Location
	return err
}

// baseConfig is the configuration without a warehouse.
func (c *call) baseConfig() (wap.Config, error) {
	storeConfig, err := c.settings.storeConfig()
	if err != nil {
		return wap.Config{}, err
	}
	timeout, err := c.settings.commitTimeout()
	if err != nil {
		return wap.Config{}, err
	}
	memory, err := c.settings.memory()
	if err != nil {
		return wap.Config{}, err
	}
	c.limitHeap(memory)
	open := func(ctx context.Context, url string) (store.Store, store.Location, error) {
		location, err := store.ParseURL(url)
		if err != nil {
			return nil, store.Location{}, usage("%s", err)
		}
		s, err := c.openStore(ctx, url, storeConfig)
		if err != nil {
			return nil, store.Location{}, wap.OpenError("", err)
		}
		return c.meter.watch(s), location, nil
	}
	return wap.Config{
		OpenStore:     open,
		Now:           c.now,
		NewID:         c.newID,
		CommitTimeout: timeout,
		Memory:        memory,
		Version:       programVersion(),
		By:            c.by(),
		Try:           schedulerTry(c.getenv),
		Plugins:       c.plugins,
		Notify:        c.page.notice,
		Progress:      c.meter.judged,
		Uploading:     c.meter.uploaded,
		Sending:       c.meter.sending,
	}, nil
}

// by is who acts, for people: user@host.
func (c *call) by() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

func (c *call) getenv(name string) (string, bool) {
	for i := len(c.environ) - 1; i >= 0; i-- {
		if value, ok := cutName(c.environ[i], name); ok {
			return value, true
		}
	}
	return "", false
}

func cutName(entry, name string) (string, bool) {
	if len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name {
		return entry[len(name)+1:], true
	}
	return "", false
}

// runName is the run that the call is about: a positional, else the setting.
// wap never invents one.
func (c *call) runName(positional string) (string, error) {
	if positional != "" {
		if c.cli.IsSet("run") && c.cli.String("run") != positional {
			return "", usage("two runs given: %q and --run %q", positional, c.cli.String("run"))
		}
		return positional, nil
	}
	run, err := c.settings.value("run")
	if err != nil {
		return "", err
	}
	if run == "" {
		return "", withHint(usage("no run given"), "give --run NAME, the same over every retry, or set WAP_RUN, or write run: into wap.yaml")
	}
	return run, nil
}

// writingRun is runName for commands that may open a run: a name that changes
// with each retry makes every retry a run of its own.
func (c *call) writingRun() (string, error) {
	run, err := c.runName("")
	if err != nil {
		return "", err
	}
	if why := unstableName(run, c.getenv); why != "" {
		c.page.warning(fmt.Sprintf("the run's name %q %s: a retry would be another run", run, why),
			"name it after what it loads, e.g. --run sales/2025-03-05")
	}
	return run, nil
}
