# A second tenant on one server: made, joined, suspended, resumed.
machines your-server laptop
your-server$ tandem pin set; tandem up --listen 0.0.0.0:13013
your-server> tandem tenant create acme --owner anna
  shows the tenant acme is made; anna owns it
your-server> tandem invite --person ben --tenant acme
  shows #tdj_
your-server> tandem tenant list
  shows acme
your-server> tandem tenant show acme
  shows is active
your-server> tandem tenant limit acme --money 20usd --sessions 50 --storage 2gb
  shows acme may use 20usd and may keep 50 sessions
your-server> tandem tenant limit acme --money 5usd --period day
  shows may use 5usd a day
your-server> tandem tenant limit acme --money none
  shows acme may keep 50 sessions
your-server> tandem tenant suspend acme --reason "the bill is open"
  shows acme is suspended
your-server> tandem tenant resume acme
let your-server:13013#tdj_… your-server$ tandem invite --person ben --tenant acme --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
laptop> tandem login your-server:13013#tdj_…                  # the line that ben was given, on his machine
  type 87654321
  type 87654321
  shows you are ben at 10.99.2.1
laptop$ tandem whoami
  shows in acme
your-server$ head -c 18 /dev/urandom | base64 > ~/.acme && chmod 600 ~/.acme
your-server> tandem tenant suspend acme
your-server> tandem tenant export acme ~/acme.tenant --passphrase-file ~/.acme
  shows of acme are in
  shows sha256:
not run: a second server is needed, which the script tenant_carry has: tandem tenant import ~/acme.tenant --passphrase-file ~/.acme
not run: a second server is needed, which the script tenant_carry has: tandem audit confirm                             # what it brings, to be looked at
your-server> tandem tenant erase acme                         # what would go, and what that does not reach
  shows nothing is erased yet
your-server> tandem tenant erase acme --confirm acme
  shows acme is erased
your-server$ tandem audit verify --whole
  shows The journal is sound
