//go:build unix

package testenv

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// poolKeeper runs PgBouncer until its standard input ends, as keeper does.
const poolKeeper = `
"$1" "$2/pgbouncer.ini" >"$2/log" 2>&1 </dev/null &
pid=$!
echo $pid >"$2/pid"
cat >/dev/null
kill -TERM $pid
kill -CONT $pid
wait $pid
`

// PgBouncer stands before the database at dsn until the test ends, in one of
// its modes (session, transaction, statement), with few connections to share.
func PgBouncer(t testing.TB, dsn, mode string) string {
	t.Helper()
	dir := poolFolder(t)
	return pool(t, dsn, dir, url.Values{"host": {dir}, "port": {"6432"}},
		"pool_mode = "+mode+"\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = "+dir+"\n")
}

// PgBouncerTLS stands before the database at dsn on 127.0.0.1, lets nobody in
// without TLS, and has a certificate of the authority in the file ca.
func PgBouncerTLS(t testing.TB, dsn string) (address, ca string) {
	t.Helper()
	address, folder := poolTLS(t, dsn, "require")
	return address, filepath.Join(folder, "cert.pem")
}

// PgBouncerCert does the same and lets in only who shows a certificate of that authority, as cert.pem and key.pem in the folder are.
func PgBouncerCert(t testing.TB, dsn string) (address, folder string) {
	t.Helper()
	return poolTLS(t, dsn, "verify-full")
}

func poolTLS(t testing.TB, dsn, mode string) (address, folder string) {
	t.Helper()
	dir := poolFolder(t)
	port := strconv.Itoa(Port(t))
	pair(t, dir)
	folder = t.TempDir()
	for _, name := range []string{"cert.pem", "key.pem"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return pool(t, dsn, dir, url.Values{"host": {"127.0.0.1"}, "port": {port}, "sslmode": {"require"},
		"sslcert": {folder + "/cert.pem"}, "sslkey": {folder + "/key.pem"}},
		"pool_mode = session\nlisten_addr = 127.0.0.1\nlisten_port = "+port+"\nunix_socket_dir =\nclient_tls_sslmode = "+mode+"\n"+
			"client_tls_ca_file = "+dir+"/cert.pem\nclient_tls_cert_file = "+dir+"/cert.pem\nclient_tls_key_file = "+dir+"/key.pem\n"), folder
}

// pair writes a certificate that vouches for itself, and its key.
func pair(t testing.TB, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func poolFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "tandem-pb") // another user must reach it, and a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func pool(t testing.TB, dsn, dir string, query url.Values, more string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	program := Tool(t, "pgbouncer")
	name, role := u.Path[1:], u.User.Username()
	conf := fmt.Sprintf("[databases]\n%s = host=%s dbname=%s user=%s\n[pgbouncer]\n%s"+
		"auth_type = any\ndefault_pool_size = 20\nmax_client_conn = 100\nserver_round_robin = 1\n",
		name, u.Query().Get("host"), name, role, more)
	if err := os.WriteFile(filepath.Join(dir, "pgbouncer.ini"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", poolKeeper, "sh", program, dir)
	if err := lessThanRoot(cmd, dir); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	held, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		held.Close()
		cmd.Wait() //nolint:errcheck // it was told to end
		if log, _ := os.ReadFile(filepath.Join(dir, "log")); t.Failed() {
			t.Logf("PgBouncer said: %s%s", said.String(), log)
		}
	})
	address := url.URL{Scheme: "postgres", User: url.User(role), Path: u.Path, RawQuery: query.Encode()}
	look, err := sql.Open("pgx", address.String()+"&default_query_exec_mode=simple_protocol")
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err = look.Exec("SELECT 1"); err == nil {
			return address.String()
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("PgBouncer does not answer: %v\n%s%s", err, said.String(), log)
		}
	}
}
