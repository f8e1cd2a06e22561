package daemon

import (
	"log/slog"
	"os"
	"slices"
	"testing"

	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// A server that was stopped and started again without its --listen was elsewhere, and nothing said so: workspaces waited for ever.
func TestAStartSaysWhichDoorsItLeft(t *testing.T) {
	const before, now = "127.0.0.1:13013", "127.0.0.1:39731"
	for _, c := range []struct {
		name  string
		flags map[string]string
		now   string
		want  []string
	}{
		{"it listens elsewhere", nil, now, []string{before}},
		{"it listens there again", nil, before, []string{}},
		{"somebody said where", map[string]string{"listen": now}, now, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := testenv.Dir(t)
			flags := map[string]string{"data": data}
			for key, v := range c.flags {
				flags[key] = v
			}
			s, err := settings.Load(flags, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := &Daemon{data: data, Settings: s, Log: slog.New(slog.DiscardHandler)}
			if err := os.WriteFile(d.openingFile(), []byte(`{"listens":["`+before+`"],"set":{"listen":"`+before+`"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			d.forgetOpening()
			if _, err := os.Stat(d.openingFile()); err == nil {
				t.Error("an orderly end left its doors to be opened again")
			}
			d.listens = []string{c.now}
			if got := d.leftDoors(); !slices.Equal(got, c.want) {
				t.Errorf("it left %v, not %v", got, c.want)
			}
		})
	}
}
