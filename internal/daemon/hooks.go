package daemon

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"tandem/internal/automation"
	"tandem/internal/fault"
)

// hook takes in a webhook for an automation. Whoever has its address may knock; the signature says who it is, and the body is data.
func (d *Daemon) hook(w http.ResponseWriter, r *http.Request) {
	h, err := d.rooms.automation.Hook(r.Context(), r.PathValue("key"), source(r.RemoteAddr))
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, automation.MaxDelivery))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		http.Error(w, "the body is longer than a webhook may be", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		d.web.Fail(w, r, fault.New(fault.Invalid, "hook", "the body cannot be read"))
		return
	}
	out, err := h.Hear(r.Context(), r.Header.Get, body)
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	answer := map[string]any{"ok": true, "delivery": out.ID, "duplicate": out.Duplicate}
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the sender went away
}
