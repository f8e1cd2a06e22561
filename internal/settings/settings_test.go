package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	os.MkdirAll(filepath.Dir(path), 0o700)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFlagsWinOverEnvironmentOverFilesOverDefaults(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.tandem/config.toml", "listen = \"from-config:1\"\nport = 1\n[log]\nlevel = \"warn\"\n", 0o600)
	write(t, home+"/.tandem/.env", "# comment\nTANDEM_LISTEN=\"from-dotenv:2\"\nexport TANDEM_LOG_FORMAT='json'\n", 0o600)
	s, err := Load(map[string]string{"workspace": "from-flag"}, []string{"HOME=" + home, "TANDEM_PORT=3", "TANDEM_WORKSPACE=from-env"})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"listen": "from-dotenv:2", "port": "3", "log.level": "warn", "log.format": "json",
		"workspace": "from-flag", "hostname": "127.0.0.1"} {
		if got := s.Get(key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if s.Given("hostname") || !s.Given("port") {
		t.Error("Given is wrong")
	}
}

func TestARepositoryCannotSetAnything(t *testing.T) {
	home, repo := t.TempDir(), t.TempDir()
	write(t, repo+"/.env", "TANDEM_TOKEN=planted-by-a-repository\n", 0o600)
	t.Chdir(repo)
	s, err := Load(nil, []string{"HOME=" + home})
	if err != nil || s.Get("connector_token") != "" {
		t.Errorf("token = %q, %v", s.Get("connector_token"), err)
	}
	s, err = Load(nil, []string{"HOME=" + home}, repo+"/.env")
	if err != nil || s.Get("connector_token") != "planted-by-a-repository" {
		t.Errorf("--env-file was not read: %v", err)
	}
}

func TestSecretsAreNotShownAndFilesAreChecked(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.tandem/.env", "TANDEM_API_TOKEN=very-secret-value-1\n", 0o600)
	s, err := Load(nil, []string{"HOME=" + home})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.All() {
		if strings.Contains(v.Value, "very-secret") {
			t.Errorf("%s shows a secret", v.Key)
		}
	}
	os.Chmod(home+"/.tandem/.env", 0o644)
	if _, err := Load(nil, []string{"HOME=" + home}); err == nil || !strings.Contains(err.Error(), "read by others") {
		t.Errorf("a readable .env: %v", err)
	}
}

func TestAMisspeltSettingIsSaid(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.tandem/config.toml", "lisen = \"x\"\n", 0o600)
	if _, err := Load(nil, []string{"HOME=" + home}); err == nil || !strings.Contains(err.Error(), `"lisen"`) {
		t.Errorf("err = %v", err)
	}
}

func TestChangeWritesOneSettingAndKeepsTheRest(t *testing.T) {
	home := t.TempDir()
	data := home + "/.tandem"
	write(t, data+"/config.toml", "port = 1\n[log]\nlevel = \"warn\"\n", 0o600)
	for _, kv := range [][2]string{{"log.level", "debug"}, {"hosts", "a.example,b.example"}, {"port", ""},
		{"panel_address", "https://house.example:39731"}, {"panel_uids", "1,2"}, {"panel_public", "true"}} {
		if err := Change(data, kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(nil, []string{"HOME=" + home})
	if err != nil || s.Get("log.level") != "debug" || s.Get("hosts") != "a.example,b.example" || s.Given("port") {
		t.Errorf("%v %v", s, err)
	}
	for _, bad := range [][2]string{{"no_such", "x"}, {"api_token", "secret-secret-secret"}, {"data", "/"}, {"listen", "nowhere"},
		{"port", "99999"}, {"idle_exit", "soon"}, {"hang_secs", "0"}, {"log.level", "loud"}, {"hosts", "a\nlisten = \"0.0.0.0:1\""},
		{"panel_address", "house"}, {"panel_address", "house.example:39731"}, {"panel_address", "ftp://house"}, {"ntfy_server", "ntfy"},
		{"search.url", "/q"}, {"panel_uids", "me"}, {"panel_uids", "1, 2"}, {"panel_public", "perhaps"}} {
		if err := Change(data, bad[0], bad[1]); err == nil {
			t.Errorf("Change(%q) was accepted", bad)
		}
	}
}
