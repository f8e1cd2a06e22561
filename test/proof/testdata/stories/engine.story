# Called by the names of the programs before it, tandem answers to their command lines.
machines laptop
laptop$ ln -s tandem ~/.local/bin/tandem-engine; ln -s tandem ~/.local/bin/intandem; tandem pin set; tandem down
laptop> tandem-engine serve --hostname 127.0.0.1 --port 39731
  until ready
laptop> tandem install panel    # says that the panel is built in
  shows built in
laptop> tandem panel init       # starts the server and signs this browser in
  shows signin?code=
laptop> tandem panel open
  shows signin?code=
laptop> tandem-engine token generate
  shows tdm_
laptop> tandem-engine config check
laptop> tandem-engine smoke
laptop> tandem-engine tool
  exit 2
  shows tandem connector
laptop> tandem-engine parallel
  exit 2
  shows tandem session
laptop> intandem init # writes .mcp.json in current directory
laptop> intandem whoami # print your username
laptop> intandem rename CosmicYoda # change your username
