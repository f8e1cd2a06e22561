package daemon

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/logfile"
	"tandem/internal/secret"
	"tandem/internal/settings"
)

func (d *Daemon) openLog() (func(), error) {
	level, err := ParseLevel(d.Settings.Get("log.level"))
	if err != nil {
		return nil, err
	}
	path := d.Settings.Get("log.file")
	if path == "" {
		path = filepath.Join(d.data, "tandem.log")
	}
	file, err := logfile.Open(path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "logs", "cannot write the log %s: %w", path, err).WithNext("choose another with --log-file")
	}
	d.logFile = file
	d.logLevel.Set(level)
	json := slog.NewJSONHandler(io.MultiWriter(file, &d.hub), &slog.HandlerOptions{Level: &d.logLevel, ReplaceAttr: nameLevel})
	var handler slog.Handler = json
	if d.Console != nil {
		var console slog.Handler = slog.NewTextHandler(d.Console, &slog.HandlerOptions{Level: &d.logLevel, ReplaceAttr: nameLevel})
		if d.Settings.Get("log.format") == "json" {
			console = slog.NewJSONHandler(d.Console, &slog.HandlerOptions{Level: &d.logLevel, ReplaceAttr: nameLevel})
		}
		handler = slog.NewMultiHandler(json, console)
	}
	d.redact = secret.NewRedactor()
	d.Log = slog.New(d.redact.Handler(logfile.NewFold(handler)))
	return func() { file.Close() }, nil
}

// Reload opens the log anew and reads the settings again. What can change while the server runs counts at once; the rest, and
// everything that guards the machine, counts from the next start on.
func (d *Daemon) Reload(load func() (*settings.Settings, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Log == nil {
		return // it is only starting
	}
	if err := d.logFile.Reopen(); err != nil {
		d.Log.Error("the log cannot be opened anew", "err", err)
	}
	s, err := load()
	if err != nil {
		d.Log.Error("the settings cannot be read; those from before count", "err", err)
		return
	}
	var now, later []string
	live := d.live()
	for _, v := range s.All() {
		def := settings.Known(v.Key)
		switch value := s.Get(v.Key); {
		case value == live.Get(v.Key) || d.Settings.Source(v.Key) == keptWith || d.Settings.Source(v.Key) == beforeCrash:
		case def.Live && !def.Guard:
			live = live.With(map[string]string{v.Key: value}, v.Source)
			now = append(now, v.Key)
		default:
			later = append(later, v.Key)
		}
	}
	d.changed.Store(live)
	if level, err := ParseLevel(live.Get("log.level")); err == nil {
		d.logLevel.Set(level)
	}
	d.Log.Info("reloaded", "changed", strings.Join(now, " "), "from_the_next_start", strings.Join(later, " "))
}
