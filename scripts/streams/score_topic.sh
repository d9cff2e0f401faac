#!/bin/bash
# Scores what is in the topic comments now. Its messages are lines of JSON, such as {"id": 7, "text": "…"}.
set -o pipefail
kafka-console-consumer.sh --bootstrap-server "$1" --topic comments --from-beginning --timeout-ms 10000 |
  toxscreen batch --quiet -i - -o - |
  kafka-console-producer.sh --bootstrap-server "$1" --topic scored
