package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/formats"
)

func Example() {
	model, err := models.Open("../testdata/models/tiny", models.Options{}) // or models.OpenDefault
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()

	srv, err := server.New(toxscreen.New(model), server.Config{Formats: formats.All(formats.Config{})})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	listener, err := net.Listen("tcp", "127.0.0.1:0") // any free port
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // in a program: signal.NotifyContext
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, listener, 10*time.Second) }()

	response, err := http.Post("http://"+listener.Addr().String()+"/v1/score", "application/json", strings.NewReader(`{"text": "you idiot"}`))
	if err != nil {
		log.Fatal(err)
	}
	var result toxscreen.Result
	err = json.NewDecoder(response.Body).Decode(&result)
	response.Body.Close()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, result.Flagged, result.Severity)

	stop()
	if err := <-served; err != nil {
		log.Fatal(err)
	}
	// Output: 200 true severe
}

// A server is an [http.Handler], too: here OpenAI's clients find it below a path
// of another program.
func ExampleServer_ServeHTTP() {
	model, err := models.Open("../testdata/models/tiny", models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	srv, err := server.New(toxscreen.New(model), server.Config{Formats: formats.All(formats.Config{})})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	mux := http.NewServeMux()
	mux.Handle("/toxicity/", http.StripPrefix("/toxicity", srv))

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/toxicity/v1/moderations", strings.NewReader(`{"input": "you idiot"}`)))
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), `"flagged":true`))
	// Output: 200 true
}

// A key is shown once, and the server knows only its hash.
func ExampleNewKey() {
	key, line, err := server.NewKey("alice")
	if err != nil {
		log.Fatal(err)
	}
	keys, err := server.ParseKeys([]byte(line + " rate=10 burst=20\n"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(key, "tox_"), keys[0].Name, keys[0].Rate, keys[0].Burst)
	// Output: true alice 10 20
}

func ExampleSplitSentences() {
	fmt.Printf("%q\n", server.SplitSentences("You idiot. Thank you! Bye."))
	// Output: ["You idiot. " "Thank you! " "Bye."]
}
