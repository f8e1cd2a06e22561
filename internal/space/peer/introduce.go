package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Capabilities are what a member says about itself, beyond what its daemon
// finds out.
type Capabilities struct {
	Tools []string `json:"tools,omitempty" jsonschema:"names of tools you have that peers should know of, 50 at most"`
	Model string   `json:"model,omitempty" jsonschema:"the model you are, when your program does not tell"`
}

// The most of a list that is announced, and the longest name in it.
const maxNamed, maxName = 50, 100

func (c Capabilities) check() error {
	if len(c.Tools) > maxNamed || len(c.Model) > maxName ||
		slices.ContainsFunc(c.Tools, func(t string) bool { return t == "" || len(t) > maxName }) {
		return fault.New(fault.Invalid, "space.join",
			"at most %d tools with names of 1 to %d characters can be announced, and a model's name has at most as many", maxNamed, maxName)
	}
	return nil
}

// introduce tells the others what this member brings: its folder, its agent and
// model, and the MCP servers and tools its project is set up with.
func (r *Room) introduce(ctx context.Context, s *seat, said Capabilities) error {
	c := op.CallerFrom(ctx)
	found := discover(s.folder)
	p := Profile{Agent: c.Client.Agent, Model: orElse(c.Client.Model, said.Model), Folder: s.folder, Servers: found.servers,
		Tools: named(append(slices.Clone(said.Tools), found.tools...))}
	if c.Session != "" {
		r.session(ctx, c, &p)
	}
	// A program that took its seat again may not say a second time which model it is.
	if was := s.profiles[s.me.Card().ID]; was.Agent == p.Agent {
		p.Model = orElse(p.Model, was.Model)
	}
	return r.profile(ctx, s, p)
}

// session fills in what tandem knows of a session that it opened: the agent, its
// model, and the tools of connectors that its model may call.
func (r *Room) session(ctx context.Context, c op.Caller, p *Profile) {
	w, err := r.workerOf(ctx, c.Tenant, c.Session)
	if err != nil {
		return // it announces what is known without it
	}
	p.Agent, p.Model = orElse(p.Agent, w.agent), orElse(p.Model, w.model)
	if w.agent != ownLoop {
		return
	}
	all, err := op.Do(ctx, r.invoke, wire.List, wire.Nothing{}) // as the session, which sees what it may use
	if err != nil {
		return
	}
	for _, k := range all.Connectors {
		if !k.Enabled {
			continue
		}
		p.Servers = append(p.Servers, k.Name)
		for _, t := range k.Tools {
			p.Tools = append(p.Tools, k.Name+"."+t.Name)
		}
	}
	p.Servers, p.Tools = named(p.Servers), named(p.Tools)
}

// reintroduce announces a model that became known, or changed, after joining.
// The caller holds s.mu.
func (r *Room) reintroduce(s *seat, c op.Caller) {
	model := c.Client.Model
	p, ok := s.profiles[s.me.Card().ID]
	if model == "" || !ok || p.Model == model || s.state != active || s.announcing {
		return
	}
	s.announcing = true
	r.later(func(ctx context.Context) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.announcing = false
		p := s.profiles[s.me.Card().ID]
		p.Model = model
		if err := r.profile(ctx, s, p); err != nil {
			r.log.Warn("new model not told", "space", s.space, "err", err)
		}
	})
}

// found is what a project's files tell about the agents in it.
type found struct{ servers, tools []string }

var (
	codexServer = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*\[mcp_servers\.(?:"([^"\]]+)"|([A-Za-z0-9_-]+))\]`)
	})
	mcpTool = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^mcp__(.+)__(.+)$`) })
)

// discover reads the MCP servers of a project from the files of the agents that
// tandem knows, and the tools of theirs that are allowed in it. No server is
// started for it. A file that cannot be read or understood announces nothing.
func discover(folder string) (f found) {
	if folder == "" {
		return f
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return f
	}
	defer root.Close()
	parse := func(name string, into any) {
		if data, err := root.ReadFile(name); err == nil {
			_ = json.Unmarshal(data, into) // what is no JSON announces nothing
		}
	}
	for _, name := range []string{".mcp.json", filepath.Join(".claude", "mcp.json")} {
		var file struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		parse(name, &file)
		for k := range file.Servers {
			f.servers = append(f.servers, k)
		}
	}
	var open struct {
		MCP map[string]json.RawMessage `json:"mcp"`
	}
	parse("opencode.json", &open)
	for k := range open.MCP {
		f.servers = append(f.servers, k)
	}
	if data, err := root.ReadFile(filepath.Join(".codex", "config.toml")); err == nil {
		for _, m := range codexServer().FindAllStringSubmatch(string(data), -1) {
			f.servers = append(f.servers, m[1]+m[2])
		}
	}
	for _, name := range []string{"settings.json", "settings.local.json"} {
		var file struct {
			Permissions struct{ Allow []string }
		}
		parse(filepath.Join(".claude", name), &file)
		for _, rule := range file.Permissions.Allow {
			if m := mcpTool().FindStringSubmatch(rule); m != nil {
				f.tools = append(f.tools, m[1]+"."+m[2])
			}
		}
	}
	f.servers, f.tools = named(f.servers), named(f.tools)
	return f
}

// named is a list as it is announced: sorted, each once, and not too long.
func named(list []string) []string {
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" || len(s) > maxName })
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxNamed)]
}

// capabilities are what a member brings, a line each.
func (p Profile) capabilities() string {
	var b strings.Builder
	for _, f := range [][2]string{{"Agent", p.Agent}, {"Model", p.Model}, {"MCP servers", strings.Join(p.Servers, ", ")},
		{"Tools", strings.Join(p.Tools, ", ")}, {"Working directory", p.Folder}} {
		if f[1] != "" {
			fmt.Fprintf(&b, "\n  %s: %s", f[0], escape(f[1]))
		}
	}
	return b.String()
}
