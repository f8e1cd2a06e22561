package jj

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/repo/gitstore"
)

// globals are the options every command takes.
type globals struct {
	repository        string
	atOp              string
	ignoreWorkingCopy bool
	ignoreImmutable   bool
	noIntegrate       bool
	debug             bool
}

var globalOpts = []opt{
	{id: "repository", long: "repository", short: "R", value: "REPOSITORY"},
	{id: "ignore-working-copy", long: "ignore-working-copy", many: true},
	{id: "no-integrate-operation", long: "no-integrate-operation", many: true},
	{id: "ignore-immutable", long: "ignore-immutable", many: true},
	{id: "at-operation", long: "at-operation", alias: []string{"at-op"}, value: "AT_OPERATION"},
	{id: "debug", long: "debug", many: true},
	{id: "color", long: "color", value: "WHEN", values: []string{"always", "never", "debug", "auto"}},
	{id: "quiet", long: "quiet", many: true},
	{id: "no-pager", long: "no-pager", many: true},
	{id: "config", long: "config", value: "NAME=VALUE", many: true},
	{id: "config-file", long: "config-file", value: "PATH", many: true},
	{id: "help", long: "help", short: "h", many: true},
}

// Main runs one command line, without the program's name, and returns the exit
// code.
func Main(ctx context.Context, args []string, s IO) int {
	if dir, err := filepath.EvalSymlinks(s.Dir); err == nil {
		s.Dir = dir
	}
	u := &ui{io: &s, out: s.Stdout, since: time.Now()}
	defer u.close()
	e := &env{io: &s, ui: u}
	if shell := s.getenv("COMPLETE"); shell != "" && shell != "0" {
		return e.completeFor(ctx, shell, args)
	}
	err := e.run(ctx, args)
	if ferr := u.flush(); err == nil {
		err = ferr
	}
	if err == nil {
		return 0
	}
	if code, ok := err.(exitCode); ok {
		return int(code)
	}
	if ctx.Err() != nil {
		return e.interrupted(err)
	}
	if errors.Is(err, gitstore.ErrObjectFormat) {
		err = missing("a repository whose objects are named by SHA-256")
	}
	if what, ok := err.(*unsupported); ok {
		u.tracef("%v", what)
		if code, ran := u.runStock(args, &s); ran {
			return code
		}
		err = userf("%s", what.Error()).hinted("Install jj 0.45 and put it on PATH: what is missing here is handed to it.")
	}
	return u.fail(err)
}

// exitCode ends a command that has nothing more to say.
type exitCode int

// Error is for those who log it.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// runStock runs another jj on PATH with the same arguments. A link to this very
// program is not another jj.
func (u *ui) runStock(args []string, s *IO) (code int, ran bool) {
	path := lookStock(s)
	if path == "" {
		return 0, false
	}
	u.tracef("run %s instead", path)
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
	cmd.Env, cmd.Dir = s.Env, s.Dir
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode(), true
	}
	return 0, err == nil
}

func lookStock(s *IO) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	selfInfo, err := os.Stat(self)
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(s.getenv("PATH")) {
		path := filepath.Join(dir, "jj")
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 || os.SameFile(info, selfInfo) {
			continue
		}
		return path
	}
	return ""
}

// run finds the command and runs it.
func (e *env) run(ctx context.Context, args []string) error {
	if err := e.loadConfig("", nil, args); err != nil {
		e.ui.configure(e.conf)
		return err
	}
	root := commandTree()
	expanded, err := e.expand(root, args)
	if err != nil {
		return err
	}
	if err := e.loadForLine(root, args, expanded); err != nil {
		return err
	}
	e.args = expanded
	p, err := parse(root, expanded)
	if err != nil {
		return e.explain(p, err)
	}
	if err := e.scopeTo(p.path); err != nil {
		return err
	}
	if long, ok := p.helpWanted(); ok {
		e.ui.printf("%s", helpFor(p.path, long, e.ui.helpWidth()))
		return nil
	}
	if p.has("version") {
		e.ui.printf("jj %s\n", Version)
		return nil
	}
	g := p.global
	g.repository, g.atOp = p.str("repository"), p.str("at-operation")
	g.ignoreWorkingCopy, g.ignoreImmutable = p.has("ignore-working-copy"), p.has("ignore-immutable")
	g.noIntegrate, g.debug = p.has("no-integrate-operation"), p.has("debug")
	e.global, e.ui.debug = g, g.debug
	e.traceStart()
	c := p.command()
	if c.run == nil {
		return &cmdError{kind: clapErr, msg: helpFor(p.path, false, e.ui.helpWidth())}
	}
	return c.run(ctx, e, p)
}

// loadForLine reads the settings again as the whole line wants them. Aliases
// come from where the command was typed: others are told of.
func (e *env) loadForLine(root *command, args, expanded []string) error {
	if slices.Equal(args, expanded) && earlyValue(args, "repository", "R") == "" && earlyValue(args, "config", "") == "" &&
		earlyValue(args, "config-file", "") == "" {
		return nil
	}
	if err := e.loadBaseConfig(expanded); err != nil {
		return err
	}
	if firstWord(args) < 0 {
		def := []string{"log"}
		if v := e.conf.Get("ui", "default-command"); v != nil {
			if s, ok := v.V.(string); ok {
				def = []string{s}
			} else {
				def, _ = e.conf.Strings("ui", "default-command")
			}
		}
		args = append(def, args...)
	}
	again, err := e.unalias(root, args)
	if err == nil && !slices.Equal(again, expanded) {
		e.ui.warnf("Command aliases cannot be loaded from -R/--repository path or --config/--config-file arguments.")
	}
	return nil
}

// Version is the jj whose behaviour this is.
const Version = "0.45.1"

// explain adds what jj adds to some argument errors.
func (e *env) explain(p *parsed, err error) error {
	ce, ok := err.(*cmdError)
	if !ok {
		return err
	}
	if mv, ok := ce.cause.(*missingValue); ok {
		ce.cause = nil
		if mv.o.id == "template" {
			aliases, aerr := e.templateAliases()
			if aerr != nil {
				return aerr
			}
			names := aliases.SymbolNames()
			sortStrings(names)
			ce.hinted("The following template aliases are defined:\n- %s", strings.Join(names, "\n- "))
		}
	}
	return ce
}
