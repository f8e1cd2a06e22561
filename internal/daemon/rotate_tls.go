package daemon

import (
	"context"
	"crypto"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"

	"crypto/tls"
	"crypto/x509"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/wholefile"
)

// tlsMoves is the file of announcements: which key took the place of which, signed with the old one.
const tlsMoves = "tls-moves.json"

// tlsFiles change together with the key, which is the last.
var tlsFiles = []string{tlsMoves, "tls-cert.pem", "tls-key.pem"}

func (d *Daemon) keyMoves() (out client.MovesOut, err error) {
	data, err := os.ReadFile(filepath.Join(d.data, tlsMoves))
	if errors.Is(err, os.ErrNotExist) {
		return client.MovesOut{Moves: []client.Move{}}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

func (d *Daemon) movesOp(context.Context, nothing) (client.MovesOut, error) { return d.keyMoves() }

// rotateTLS replaces the key by which other machines know this server. The old key announces it, and whoever pinned it follows.
func (d *Daemon) rotateTLS(ctx context.Context) (out RotateOut, err error) {
	if d.Settings.Get("tls_cert") != "" {
		return out, fault.New(fault.Conflict, "server.rotate", "the certificate is one that the setting tls_cert names").
			WithNext("replace its files, then: tandem up --replace; other machines accept the new key with: " +
				"tandem remote trust HOST:PORT FINGERPRINT")
	}
	at := func(name string) string { return filepath.Join(d.data, name) }
	old, err := tls.LoadX509KeyPair(at("tls-cert.pem"), at("tls-key.pem"))
	if errors.Is(err, os.ErrNotExist) {
		return out, fault.New(fault.Conflict, "server.rotate", "this server never listened beyond this machine, so it has no TLS key").
			WithNext("open it: tandem up --replace --listen 0.0.0.0:13013")
	}
	if err != nil {
		return out, err
	}
	host, _, _ := net.SplitHostPort(d.Settings.Get("listen"))
	next := journal.NextFile
	if err := os.Remove(next(at("tls-key.pem"))); err != nil && !errors.Is(err, os.ErrNotExist) { // of a try that failed
		return out, err
	}
	if err := makeCertificate(next(at("tls-cert.pem")), next(at("tls-key.pem")), host); err != nil {
		return out, err
	}
	pair, err := tls.LoadX509KeyPair(next(at("tls-cert.pem")), next(at("tls-key.pem")))
	if err != nil {
		return out, err
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return out, err
	}
	signer, ok := old.PrivateKey.(crypto.Signer)
	if !ok {
		return out, errors.New("the TLS key cannot sign")
	}
	move, err := client.NewMove(signer, client.Fingerprint(leaf), d.db.Now())
	if err != nil {
		return out, err
	}
	all, err := d.keyMoves()
	if err != nil {
		return out, err
	}
	all.Moves = append(all.Moves, move)
	text, err := json.Marshal(all)
	if err == nil {
		err = wholefile.Write(next(at(tlsMoves)), text)
	}
	if err != nil {
		return out, err
	}
	key, err := os.ReadFile(next(at("tls-key.pem")))
	if err != nil {
		return out, err
	}
	by := op.CallerFrom(ctx)
	err = d.db.Write(ctx, func(tx *db.Tx) error {
		if err := d.kept.Mark(tx, "tls-key.pem", key); err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{"key": "tls-key.pem", "old": move.Old, "new": move.New, "present": by.Present})
		if err != nil {
			return err
		}
		_, err = d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "server.key_rotated", Actor: by.Name,
			Resource: "server:/keys", Payload: payload})
		return err
	})
	if err != nil {
		return out, err
	}
	if err := d.placeTLS(); err != nil {
		return out, err
	}
	out = RotateOut{Old: move.Old, New: move.New,
		Next: "machines that joined follow by themselves; invitations that were made before name the old key: tandem invite"}
	if d.shown.Load() == nil {
		return out, nil
	}
	return out, d.show(at("tls-cert.pem"), at("tls-key.pem"))
}

// placeTLS puts what waits in its place, the key last.
func (d *Daemon) placeTLS() error {
	for _, name := range tlsFiles {
		path := filepath.Join(d.data, name)
		if err := os.Rename(journal.NextFile(path), path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return wholefile.SyncFolder(d.data)
}

// finishTLS ends a change of the TLS key that a crash cut off.
func (d *Daemon) finishTLS(ctx context.Context) error {
	waiting := journal.NextFile(filepath.Join(d.data, "tls-key.pem"))
	key, err := os.ReadFile(waiting)
	counts := false
	if err == nil {
		err = d.db.Read(ctx, func(tx *db.Tx) (err error) { counts, err = d.kept.Marked(tx, "tls-key.pem", key); return err })
	}
	if counts {
		d.Log.Warn("finished a rotation that was cut off", "key", "tls-key.pem")
		return d.placeTLS()
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, name := range tlsFiles { // it never happened
		if err := os.Remove(journal.NextFile(filepath.Join(d.data, name))); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// announcedSince says whether the TLS key of this folder took the place of the copy's, announced by it: whoever joined has followed, and
// the old one may have been replaced because it was lost. It stays then, whatever the copy holds.
func (d *Daemon) announcedSince(copied backupHead) bool {
	present, err := os.ReadFile(filepath.Join(d.data, "tls-cert.pem"))
	if err != nil {
		return false
	}
	moves, err := d.keyMoves()
	return err == nil && client.Leads(moves.Moves, printOfPEM(copied.Files["tls-cert.pem"]), printOfPEM(present))
}

// printOfPEM is the fingerprint of a certificate's key; nothing where it cannot be read.
func printOfPEM(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	return client.Fingerprint(leaf)
}

// markTLS lets the database know the TLS key of this folder.
func (d *Daemon) markTLS(tx *db.Tx) error {
	key, err := os.ReadFile(filepath.Join(d.data, "tls-key.pem"))
	if err != nil {
		return err
	}
	return d.kept.Mark(tx, "tls-key.pem", key)
}
