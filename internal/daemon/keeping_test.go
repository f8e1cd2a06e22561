package daemon

import (
	"sync"
	"testing"

	"tandem/internal/server/wire"

	"tandem/internal/settings"
)

// Changes of settings that come at once are all in the file afterwards.
func TestSettingsChangedAtOnce(t *testing.T) {
	d := &Daemon{data: t.TempDir()}
	var err error
	if d.Settings, err = settings.Load(map[string]string{"data": d.data}, nil); err != nil {
		t.Fatal(err)
	}
	changes := map[string]string{"log.level": "debug", "hosts": "a.example", "idle_exit": "5m", "claude": "/bin/claude", "codex": "/bin/codex",
		"opencode": "/bin/opencode", "wait_ms": "1", "hang_secs": "2"}
	var all sync.WaitGroup
	for key, value := range changes {
		all.Go(func() {
			if _, err := d.setOp(t.Context(), wire.SetIn{Key: key, Value: value}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s, err := settings.Load(map[string]string{"data": d.data}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range changes {
		if s.Get(key) != value {
			t.Errorf("%s is %q, not %q", key, s.Get(key), value)
		}
	}
}
