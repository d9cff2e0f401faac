package authority_test

import (
	"fmt"
	"log"
	"os"

	"github.com/toxscreen/toxscreen/server/authority"
)

func Example() {
	folder, err := os.MkdirTemp("", "authority")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	hosts, err := authority.ParseHosts("commentanalyzer.googleapis.com")
	if err != nil {
		log.Fatal(err)
	}
	ca, err := authority.Open(folder, hosts)
	if err != nil {
		log.Fatal(err)
	}
	config, err := ca.TLSConfig() // for tls.NewListener
	if err != nil {
		log.Fatal(err)
	}
	current, err := config.GetCertificate(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(current.Leaf.DNSNames, current.Leaf.Issuer.CommonName)
	// Output: [commentanalyzer.googleapis.com] toxscreen for commentanalyzer.googleapis.com
}
