package settings

// table is every setting there is. A room that needs one adds its line here.
var table = []Setting{
	{Key: "data", Env: []string{"TANDEM_DATA"}, Doc: "the folder that holds everything (default ~/.tandem)"},
	{Key: "database", Env: []string{"TANDEM_DATABASE"}, Doc: "postgres://… to keep state in PostgreSQL; empty for the embedded SQLite", Secret: true},
	{Key: "listen", Env: []string{"TANDEM_LISTEN"}, Doc: "address to listen on; beyond loopback it speaks TLS"},
	{Key: "hostname", Env: []string{"TANDEM_HOST"}, Default: "127.0.0.1", Doc: "the address part of listen"},
	{Key: "port", Env: []string{"TANDEM_PORT"}, Default: "39731", Doc: "the port part of listen"},
	{Key: "hosts", Env: []string{"TANDEM_HOSTS"}, Doc: "further names that requests may be addressed to, comma-separated"},
	{Key: "panel_public", Env: []string{"TANDEM_PANEL_PUBLIC"}, Doc: "1 serves the panel beyond loopback too"},
	{Key: "tls_cert", Env: []string{"TANDEM_TLS_CERT"}, Doc: "certificate file for listening beyond loopback; one is made when empty"},
	{Key: "tls_key", Env: []string{"TANDEM_TLS_KEY"}, Doc: "key file that belongs to tls_cert"},
	{Key: "repos", Env: []string{"TANDEM_REPO"}, Doc: "repositories to serve, comma-separated"},
	{Key: "control_socket", Env: []string{"TANDEM_CONTROL_SOCKET"}, Doc: "the socket by which commands reach the daemon"},
	{Key: "log.level", Env: []string{"TANDEM_LOG_LEVEL"}, Default: "info", Doc: "trace, debug, info, warn or error"},
	{Key: "log.format", Env: []string{"TANDEM_LOG_FORMAT"}, Default: "text", Doc: "text or json, for the terminal; the file is always json"},
	{Key: "log.file", Env: []string{"TANDEM_LOG_FILE"}, Doc: "where the log goes (default: tandem.log in the data folder)"},
	{Key: "idle_exit", Env: []string{"TANDEM_IDLE_EXIT"}, Default: "15m", Doc: "a daemon that was started on demand ends after this long without work"},
	{Key: "api_token", Env: []string{"TANDEM_API_TOKEN"}, Doc: "the API's token: everyday rights; made when absent", Secret: true},
	{Key: "api_token_file", Env: []string{"TANDEM_API_TOKEN_FILE"}, Doc: "a file that holds the API's token"},
	{Key: "connector_token", Env: []string{"TANDEM_TOKEN"}, Doc: "the bridge's token: drives sessions and spaces, never decides; made when absent", Secret: true},
	{Key: "connector_token_file", Env: []string{"TANDEM_TOKEN_FILE"}, Doc: "a file that holds the bridge's token"},
	{Key: "secret_keeper", Env: []string{"TANDEM_SECRET_KEEPER"}, Default: "auto", Doc: "where a new master key for secrets goes: keyring, file, or auto for the keyring where there is one"},
	{Key: "as_token", Env: []string{"TANDEM_AS_TOKEN"}, Doc: "commands act with this token and not as this user", Secret: true},
	{Key: "server", Env: []string{"TANDEM_SERVER"}, Doc: "the server of a workspace, HOST:PORT"},
	{Key: "workspace", Env: []string{"TANDEM_WORKSPACE"}, Doc: "the name of a workspace"},
}
