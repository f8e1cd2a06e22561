package jj

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

func versionCommand() *command {
	return &command{name: "version", opts: []opt{{id: "numeric-only", long: "numeric-only", hidden: true}},
		run: func(ctx context.Context, e *env, p *parsed) error {
			e.ui.printf("jj %s\n", Version)
			return nil
		}}
}

func helpCommand() *command {
	return &command{
		name: "help",
		opts: []opt{{id: "pos", pos: true, many: true, value: "COMMAND"},
			{id: "keyword", long: "keyword", short: "k", value: "KEYWORD", values: topics(), conflicts: []string{"pos"}}},
		run: func(ctx context.Context, e *env, p *parsed) error {
			if p.has("keyword") {
				e.ui.page(ctx)
				e.ui.printf("%s", topic(p.str("keyword")))
				return nil
			}
			path := []*command{commandTree()}
			words := p.all("pos")
			for i, word := range words {
				at := path[len(path)-1]
				found := false
				var names []string
				for _, c := range at.subs {
					names = append(names, c.name)
					if c.name == word {
						path = append(path, c)
						found = true
						break
					}
				}
				if !found && i == 0 {
					path[0].raw = true
					return unknownCommand(path, word, names)
				}
				if !found {
					return clif("Unknown command: %s", strings.Join(words, " "))
				}
			}
			e.ui.page(ctx)
			e.ui.printf("%s", helpFor(path, true, e.ui.helpWidth()))
			return nil
		},
	}
}

// config reads one value of git's configuration: the repository's, then the
// user's.
func (gs *gitSide) config(name string) string {
	section, key, _ := strings.Cut(name, ".")
	paths := []string{filepath.Join(gs.store.GitDir(), "config")}
	if g, ok := gs.io.lookup("GIT_CONFIG_GLOBAL"); ok {
		paths = append(paths, g)
	} else if h := gs.io.getenv("HOME"); h != "" {
		paths = append(paths, filepath.Join(h, ".gitconfig"), filepath.Join(h, ".config", "git", "config"))
	}
	for _, p := range paths {
		if v, ok := readGitConfig(p, section, key); ok {
			return v
		}
	}
	return ""
}

func readGitConfig(path, section, key string) (string, bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	in, found, ok := false, "", false
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if strings.HasPrefix(line, "[") {
			in = strings.EqualFold(strings.Trim(line, "[]"), section)
			continue
		}
		k, v, eq := strings.Cut(line, "=")
		if in && eq && strings.EqualFold(strings.TrimSpace(k), key) {
			found, ok = strings.Trim(strings.TrimSpace(v), `"`), true
		}
	}
	return found, ok
}

func (st *state) webURL(remote string) string { return "" }
