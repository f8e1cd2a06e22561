package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/models"
	"tandem/internal/op"
)

// model stores the key of a provider, or stays with the built-in model.
func (g *guide) model(ctx context.Context) error {
	have, err := op.Do(ctx, g.k, models.ProviderList, models.Nothing{})
	if err != nil {
		return err
	}
	if g.provider == "" && have.Default != models.Default {
		g.already("model", have.Default)
		return nil
	}
	var offered []string
	for _, p := range have.Providers {
		if p.Source == "store" && g.provider == "" && p.Default != "" {
			g.left("model", "the key for "+p.ID+" is sealed, and sessions still use "+have.Default+", which repeats what it is told",
				"tandem provider default "+p.ID+"/"+p.Default)
			return nil
		}
		if p.ID != "local" && !p.Connected {
			offered = append(offered, p.ID)
		}
	}
	id := g.provider
	switch {
	case id == "" && g.unasked:
		id = "echo"
	case id == "":
		question := fmt.Sprintf("Whose model answers? %s; nothing for the built-in echo, which needs no key: ", strings.Join(offered, ", "))
		for {
			line, ok, err := g.k.Ask(question)
			if err != nil || !ok {
				return errors.Join(err, g.stopped(ok))
			}
			if line == "" || line == "echo" || slices.Contains(offered, line) {
				id = line
				break
			}
			question = fmt.Sprintf("there is no provider %q; one of %s, or nothing: ", line, strings.Join(offered, ", "))
		}
	}
	if id == "" || id == "echo" {
		g.left("model", models.Default+", which repeats what it is told; a real model needs a key", "tandem provider key PROVIDER")
		return nil
	}
	return g.note("model", "the key for "+id+" is sealed", "tandem provider key "+id, g.types(ctx, "provider", "key", id))
}

// turn takes a first turn, with the model that sessions use now.
func (g *guide) turn(ctx context.Context) error {
	words := []string{"run", "say hello"}
	if g.folder != "" {
		words = append(words, "-C", g.folder)
	}
	return g.note("turn", "a first turn was taken", `tandem run "say hello"`, g.types(ctx, words...))
}
