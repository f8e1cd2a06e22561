package setup

import (
	"context"
	"errors"
	"slices"
	"strings"

	"tandem/internal/server/wire"
)

// phone lets a phone be told, where somebody wants that. It is nobody's duty, so where nobody is asked it is not spoken of.
func (g *guide) phone(ctx context.Context) error {
	st, err := g.status(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(st.Told, func(t wire.Told) bool { return t.Way == "ntfy" }) {
		g.already("phone", "it is told, by ntfy")
		return nil
	}
	if g.unasked {
		return nil
	}
	topic, ok, err := g.k.Ask("Tell your phone when something waits for you? By the app ntfy: y, or a topic that you have; nothing for no: ")
	if err != nil || !ok {
		return errors.Join(err, g.stopped(ok))
	}
	words := []string{"phone", "set"}
	switch strings.ToLower(topic) {
	case "", "n", "no", "none":
		g.left("phone", "it is told nothing; the panel and tandem inbox show what waits", "tandem phone set")
		return nil
	case "y", "yes":
	default:
		words = append(words, topic)
	}
	if st.Elsewhere == "" {
		address, ok, err := g.k.Ask("Where does your phone reach the panel? An address such as https://house.example:39731; " +
			"nothing for no link: ")
		if err != nil || !ok {
			return errors.Join(err, g.stopped(ok))
		}
		if address != "" {
			words = append(words, "--address", address)
		}
	}
	return g.note("phone", "it is told, by ntfy", "tandem phone set", g.types(ctx, words...))
}
