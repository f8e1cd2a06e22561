# A repository is shared, worked in, moved, watched and cloned.
machines your-server laptop
your-server$ tandem pin set
your-server> tandem up --repo ~/project --listen 0.0.0.0:13013
laptop> tandem init --tandem-server=your-server:13013 ~/work
  when waiting until: your-server$ tandem approvals approve
laptop> cd ~/work
laptop> echo 'pub fn auth() {}' > auth.rs
laptop> tandem commit -m "feat: add auth"
laptop> tandem log
  shows feat: add auth
laptop> tandem watch
  when watching: laptop$ cd ~/work && tandem describe -m "while somebody looks"
  until describe
let TOKEN your-server$ tandem token show api
let CERTIFICATE your-server$ base64 -w0 ~/.tandem/tls-cert.pem
laptop$ cd && echo CERTIFICATE | base64 -d >tls-cert.pem
laptop> git -c http.sslCAInfo=tls-cert.pem clone https://x:TOKEN@your-server:13013/project.git
your-server$ tandem down && tandem up --repo ~/project --listen 0.0.0.0:14014
laptop$ cd ~/work
laptop> tandem remote set your-server:14014
