# docs/operate.md: copies by a schedule, and machines that join by one invitation. docs/modes.md: a server whose requests are named by signed assertions.
machines your-server machine
your-server$ tandem pin set; mkdir -p app && cd app && git init -q && cd .. && tandem up --repo ~/app --listen 0.0.0.0:13013; mount -t tmpfs none /mnt && mkdir /mnt/copies
your-server> tandem server backup-key ~/copies.identity > ~/copies.recipient                             # take the identity away from this machine
your-server> tandem server schedule backup --to /mnt/copies --recipient-file ~/copies.recipient           # every night at three, 14 are kept
  shows backup is scheduled
your-server> tandem server schedule backup --to /mnt/copies --recipient-file ~/copies.recipient --when 'every 6h' --keep 28
  shows backup is scheduled
your-server> tandem server schedule forget --older-than 8760h                                             # and forget payloads that are a year old
your-server> tandem server schedule list
  shows backup
your-server> tandem server schedule now backup                                                            # at once, and wait for what becomes of it
  shows done at
your-server$ tandem server check /mnt/copies/tandem.scheduled --identity ~/copies.identity
your-server> tandem invite --uses 20 --expires 24h
  shows --tandem-server=10.99.2.1:13013#tdj_
let your-server:13013#tdj_…~… your-server$ tandem invite --uses 20 --expires 24h --json | grep -o '10[0-9.]*:13013#tdj_[^" ]*' | head -1
machine> TANDEM_SERVER=your-server:13013#tdj_…~…
machine$ echo 'TANDEM_SERVER=your-server:13013#tdj_…~…' > machine.env; set -a; . ./machine.env; tandem init work && cd work && tandem log
  shows machine
your-server> openssl genpkey -algorithm ed25519 -out web.pem
your-server> openssl pkey -in web.pem -pubout -out web.pub
your-server> tandem assertion key add web-1 web.pub --organization acme --expires 2160h
  shows enrolled web-1
your-server> tandem assertion key list
  shows web-1
your-server> tandem settings set auth_mode hosted_single_tenant
your-server> tandem up --replace
your-server> tandem audit log --type assertion.rejected
your-server> tandem assertion key revoke web-1
