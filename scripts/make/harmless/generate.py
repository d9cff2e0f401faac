"""Writes the logs and tables of testdata/pii/harmless.jsonl.gz that no program wrote: what servers, builds and spreadsheets look like.

    python scripts/make/harmless/generate.py > generated.jsonl

Every run writes the same documents. Addresses are of the ranges that RFC 5737, RFC 3849 and RFC 7042 set aside for
documentation, or private ones; they are entities, marked as they are written. Order, lot, part and meter numbers look like
card, telephone and insurance numbers and are none.
"""

import ipaddress
import json
import math
import random
import re
import string
import sys
from datetime import UTC, datetime, timedelta

MARK = re.compile("\x02([A-Z_]+)\x03([^\x04]*)\x04")
START = datetime(2026, 3, 9, 6, 0, 0, tzinfo=UTC)
WORDS = "cache queue worker session index shard replica broker cursor bucket segment token ledger gateway mirror spooler batch payload".split()
SERVICES = "checkout billing catalogue search mailer ingest scheduler gateway thumbnailer exporter".split()
UNITS = ["Daily apt download activities", "Rotate log files", "Cleanup of Temporary Directories", "Network Time Synchronization", "Discard unused blocks on filesystems", "Online ext4 Metadata Check for All Filesystems", "Session 114 of User root", "The Apache HTTP Server", "PostgreSQL RDBMS", "Regular background program processing daemon"]
PATHS = ["/", "/index.html", "/api/v2/orders/{n}", "/api/v2/items?page={p}&size=50", "/static/app.{h}.js", "/img/{p}/thumb_{n}.webp", "/healthz", "/login", "/search?q=olive+oil", "/feed.xml", "/robots.txt", "/cart/{h}/lines"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0", "curl/8.5.0", "kube-probe/1.30", "Go-http-client/2.0", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"]


def entity(kind: str, value: str) -> str:
    return f"\x02{kind}\x03{value}\x04"


def document(name: str, kind: str, text: str) -> dict:
    """Takes the marks out of the text and puts their places in entities."""
    plain, entities, at = "", [], 0
    for found in MARK.finditer(text):
        plain += text[at : found.start()]
        entities.append({"type": found[1], "start": len(plain), "end": len(plain) + len(found[2])})
        plain += found[2]
        at = found.end()
    return {"id": name, "kind": kind, "source": "scripts/make/harmless", "licence": "Apache-2.0", "text": plain + text[at:], "entities": entities}


class Writer:
    """Random pieces of text. One a document, seeded by its name."""

    def __init__(self, name: str):
        self.random = random.Random(name)
        self.now = START + timedelta(minutes=self.random.randrange(500_000))

    def tick(self, seconds: float = 20) -> datetime:
        self.now += timedelta(microseconds=int(self.random.expovariate(1 / seconds) * 1e6))
        return self.now

    def stamp(self) -> str:
        return self.tick().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def pick(self, among):
        return self.random.choice(among)

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def digits(self, count: int, first: str = "123456789") -> str:
        return self.pick(first) + "".join(self.pick(string.digits) for _ in range(count - 1))

    def hex(self, count: int) -> str:
        return f"{self.random.getrandbits(4 * count):0{count}x}"

    def uuid(self) -> str:
        return entity("UUID", f"{self.hex(8)}-{self.hex(4)}-4{self.hex(3)}-{self.pick('89ab')}{self.hex(3)}-{self.hex(12)}")

    def address(self) -> str:
        network = ipaddress.ip_network(self.pick(["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "10.20.0.0/16"]))
        return entity("IP_ADDRESS", str(network[self.number(1, network.num_addresses - 2)]))

    def address6(self) -> str:
        return entity("IP_ADDRESS", f"2001:db8:{self.hex(4).lstrip('0') or '1'}::{self.hex(3).lstrip('0') or '1'}")

    def hardware(self) -> str:
        return entity("MAC_ADDRESS", "00:00:5e:00:53:" + self.hex(2))

    def path(self) -> str:
        return self.pick(PATHS).format(n=self.digits(8), p=self.number(1, 90), h=self.hex(8))

    def pod(self) -> str:
        return f"{self.pick(SERVICES)}-{self.hex(10)}-{''.join(self.pick('bcdfghjklmnpqrstvwxz2456789') for _ in range(5))}"

    def measure(self, low: float, high: float, places: int = 2) -> str:
        return f"{self.random.uniform(low, high):.{places}f}"


def luhn(digits: str) -> bool:
    doubled = [int(d) * 2 if i % 2 else int(d) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


# Logs: a function writes one line or one event of several lines.


def nginx_access(w):
    return f'{w.address()} - - [{w.tick(3):%d/%b/%Y:%H:%M:%S} +0000] "{w.pick(["GET", "GET", "POST"])} {w.path()} HTTP/1.1" {w.pick([200, 200, 200, 304, 404, 499])} {w.number(80, 90_000)} "-" "{w.pick(AGENTS)}" rt={w.measure(0, 2, 3)} id={w.hex(32)}'


def nginx_error(w):
    trouble = w.pick(['open() "/srv/www/favicon.ico" failed (2: No such file or directory)', "upstream timed out (110: Connection timed out) while reading response header from upstream", "client intended to send too large body: 10485761 bytes"])
    return f'{w.tick(60):%Y/%m/%d %H:%M:%S} [{w.pick(["error", "warn"])}] {w.number(900, 9000)}#{w.number(900, 9000)}: *{w.number(1000, 99999)} {trouble}, client: {w.address()}, server: _, request: "GET {w.path()} HTTP/1.1"'


def journal(w):
    head = f"{w.tick(40):%b %d %H:%M:%S} web-{w.number(1, 12):02}"
    return head + " " + w.pick([
        lambda: f"systemd[1]: Starting {w.pick(UNITS)}...",
        lambda: f"systemd[1]: Finished {w.pick(UNITS)}.",
        lambda: f"systemd[1]: {w.pick(['apt-daily', 'logrotate', 'fstrim', 'man-db'])}.service: Deactivated successfully.",
        lambda: f"systemd[1]: {w.pick(SERVICES)}.service: Main process exited, code=exited, status={w.number(1, 255)}/FAILURE",
        lambda: f"CRON[{w.number(1000, 99999)}]: (root) CMD (   cd / && run-parts --report /etc/cron.hourly)",
        lambda: f"sshd[{w.number(1000, 99999)}]: Accepted publickey for deploy from {w.address()} port {w.number(32768, 60999)} ssh2: ED25519 SHA256:{w.hex(40)}",
        lambda: f"sshd[{w.number(1000, 99999)}]: Received disconnect from {w.address()} port {w.number(32768, 60999)}:11: disconnected by user",
        lambda: f"dhclient[{w.number(500, 900)}]: DHCPACK of {w.address()} from {w.address()} (xid=0x{w.hex(8)})",
        lambda: f"kernel: [{w.measure(1000, 900000, 6)}] eth0: renamed from veth{w.hex(7)}",
        lambda: f"chronyd[{w.number(500, 900)}]: Selected source {w.address()}",
    ])()


def kernel(w):
    return f"[{w.measure(0, 90, 6):>12}] " + w.pick([
        lambda: f"pci 0000:{w.hex(2)}:{w.hex(2)}.0: [{w.hex(4)}:{w.hex(4)}] type 00 class 0x{w.hex(6)}",
        lambda: f"BIOS-e820: [mem 0x{w.hex(16)}-0x{w.hex(16)}] usable",
        lambda: f"e1000e 0000:00:1f.6 eth0: (PCI Express:2.5GT/s:Width x1) {w.hardware()}",
        lambda: f"usb 1-{w.number(1, 8)}: New USB device found, idVendor={w.hex(4)}, idProduct={w.hex(4)}, bcdDevice= 1.{w.number(0, 99):02}",
        lambda: f"EXT4-fs (nvme0n1p{w.number(1, 4)}): mounted filesystem with ordered data mode. Quota mode: none.",
        lambda: f"audit: type=1400 audit({w.digits(10, '1')}.{w.digits(3)}:{w.number(1, 900)}): apparmor=\"STATUS\" operation=\"profile_load\" name=\"lsb_release\"",
        lambda: f"Out of memory: Killed process {w.number(1000, 99999)} (java) total-vm:{w.digits(8)}kB, anon-rss:{w.digits(7)}kB, file-rss:0kB",
    ])()


def klog(w):
    return f"{w.pick('IIIWE')}{w.tick(2):%m%d %H:%M:%S.%f} {w.number(1, 40000):>7} {w.pick(['controller', 'reflector', 'kubelet', 'leaderelection', 'garbage_collector', 'scheduler'])}.go:{w.number(40, 2400)}] " + w.pick([
        lambda: f'"Successfully bound pod to node" pod="prod/{w.pod()}" node="pool-a-{w.hex(4)}" evaluatedNodes={w.number(3, 40)} feasibleNodes={w.number(1, 12)}',
        lambda: f'"Event occurred" object="prod/{w.pick(SERVICES)}" kind="Deployment" apiVersion="apps/v1" type="Normal" reason="ScalingReplicaSet" message="Scaled up replica set {w.pod()[:-6]} to {w.number(1, 9)}"',
        lambda: f"Trace[{w.digits(9)}]: \"List\" url:/api/v1/pods,user-agent:kubectl/v1.30.2 (linux/amd64) (total time: {w.number(500, 9000)}ms):",
        lambda: f"failed to sync endpoint slice prod/{w.pick(SERVICES)}-{w.hex(5)}: Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again",
        lambda: f'"Probe failed" probeType="Readiness" pod="prod/{w.pod()}" podUID={w.uuid()} containerName="app" output="HTTP probe failed with statuscode: 503"',
        lambda: f"attempting to acquire leader lease kube-system/{w.pick(WORDS)}-controller...",
    ])()


def kubectl(w):
    return f"{w.pod():<38} {w.pick(['1/1', '2/2', '0/1'])}   {w.pick(['Running', 'Running', 'CrashLoopBackOff', 'Completed', 'ImagePullBackOff']):<17} {w.number(0, 40):<3} {w.number(1, 90)}d    {w.address():<15} pool-{w.pick('abc')}-{w.hex(4)}"


JAVA = ["org.example.shop.order.OrderService", "org.example.shop.stock.StockRepository", "org.springframework.web.servlet.DispatcherServlet", "com.zaxxer.hikari.pool.HikariPool", "org.apache.kafka.clients.consumer.internals.Fetcher", "java.util.concurrent.ThreadPoolExecutor", "io.netty.channel.AbstractChannelHandlerContext", "org.hibernate.internal.SessionImpl"]


def java(w):
    head = f"{w.tick(10):%Y-%m-%d %H:%M:%S},{w.number(0, 999):03} {w.pick(['INFO ', 'WARN ', 'ERROR', 'DEBUG'])} [{w.pick(['http-nio-8080-exec', 'kafka-coordinator-heartbeat', 'HikariPool-1 housekeeper', 'scheduling'])}-{w.number(1, 20)}] {w.pick(JAVA)} - "
    if w.number(0, 3):
        return head + w.pick([f"Order {w.digits(16, '789')} moved from PICKED to PACKED in {w.number(3, 900)} ms", f"[Consumer clientId=consumer-{w.number(1, 9)}, groupId=orders] Resetting offset for partition orders-{w.number(0, 11)} to offset {w.digits(9)}.", f"HikariPool-1 - Pool stats (total={w.number(5, 20)}, active={w.number(0, 5)}, idle={w.number(1, 9)}, waiting=0)", f"Loaded {w.digits(7)} stock rows for warehouse {w.number(1, 40):03}, checksum {w.hex(8)}", "No active profile set, falling back to 1 default profile: \"default\""])
    trace = [head + "Request failed", w.pick(["java.lang.IllegalStateException: line is closed", "java.net.SocketTimeoutException: Read timed out", "java.lang.NullPointerException: Cannot invoke \"Stock.reserve(int)\" because \"stock\" is null", "org.postgresql.util.PSQLException: ERROR: deadlock detected"])]
    for _ in range(w.number(3, 9)):
        place = w.pick(JAVA)
        trace.append(f"\tat {place}.{w.pick(['invoke', 'doGet', 'reserve', 'lambda$run$0', 'process', 'access$300'])}({place.rsplit('.', 1)[1]}.java:{w.number(20, 1200)})")
    return "\n".join([*trace, f"\t... {w.number(4, 60)} common frames omitted"])


def postgres(w):
    head = f"{w.tick(15):%Y-%m-%d %H:%M:%S}.{w.number(0, 999):03} UTC [{w.number(100, 99999)}] shop@shop "
    return head + w.pick([
        lambda: f"LOG:  duration: {w.measure(100, 9000, 3)} ms  statement: SELECT id, placed_at, total FROM orders WHERE id > {w.digits(10)} AND status = 'open' ORDER BY id LIMIT 500",
        lambda: f"LOG:  checkpoint complete: wrote {w.number(10, 9000)} buffers ({w.measure(0, 60, 1)}%); 0 WAL file(s) added, 0 removed, {w.number(0, 9)} recycled; write={w.measure(1, 300, 3)} s, sync={w.measure(0, 1, 3)} s; distance={w.digits(6)} kB",
        lambda: f"ERROR:  duplicate key value violates unique constraint \"lines_pkey\"\nDETAIL:  Key (order_id, line)=({w.digits(11)}, {w.number(1, 40)}) already exists.",
        lambda: f"LOG:  automatic vacuum of table \"shop.public.{w.pick(WORDS)}s\": index scans: 1\n\tpages: 0 removed, {w.digits(6)} remain, {w.digits(5)} scanned\n\ttuples: {w.digits(6)} removed, {w.digits(8)} remain",
        lambda: f"LOG:  process {w.number(100, 99999)} still waiting for ShareLock on transaction {w.digits(9)} after 1000.{w.number(0, 999):03} ms",
    ])()


def pipeline(w):
    return f"{w.stamp()} " + w.pick([
        lambda: f"#{w.number(5, 40)} [build {w.number(1, 14)}/14] RUN go build -trimpath -o /out/{w.pick(SERVICES)} ./cmd/{w.pick(SERVICES)}",
        lambda: f"#{w.number(5, 40)} sha256:{w.hex(64)} {w.measure(1, 90)}MB / {w.measure(1, 90)}MB {w.measure(0, 9, 1)}s done",
        lambda: f"ok  \t{entity('URL', 'example.org/shop/' + w.pick(WORDS))}\t{w.measure(0, 9, 3)}s\tcoverage: {w.measure(20, 99, 1)}% of statements",
        lambda: f"=== RUN   Test{w.pick(WORDS).title()}{w.pick(['Grows', 'Rejects', 'Keeps', 'Drains'])}/{w.pick(['empty', 'one', 'many', 'unicode'])}",
        lambda: f"--- PASS: Test{w.pick(WORDS).title()}{w.pick(['Grows', 'Rejects', 'Keeps', 'Drains'])} ({w.measure(0, 4)}s)",
        lambda: f"npm warn deprecated {w.pick(['inflight', 'glob', 'rimraf', 'abab'])}@{w.number(1, 9)}.{w.number(0, 20)}.{w.number(0, 20)}: This version is not supported, please upgrade",
        lambda: f"Cache restored from key: Linux-go-{w.hex(64)}",
        lambda: f"tests/test_{w.pick(WORDS)}.py::test_{w.pick(WORDS)}_is_{w.pick(['closed', 'sorted', 'shared'])} PASSED [{w.number(1, 99):>3}%]",
        lambda: f"##[warning]The job was cancelled after {w.number(5, 90)} minutes",
        lambda: f"Uploading artifact {w.pick(WORDS)}-report.zip ({w.digits(7)} bytes), id {w.digits(10)}",
    ])()


def structured(w):
    moment = w.tick(4)
    return json.dumps({"time": int(moment.timestamp() * 1000), "level": w.pick(["info", "info", "warn"]), "service": w.pick(SERVICES), "trace": w.hex(32), "span": w.hex(16), "took_ns": int(w.digits(9)), "order": w.digits(16, "06789"), "message": w.pick(["stock reserved", "parcel labelled", "price recalculated", "mail queued", "retry scheduled", "cache filled"]), "build": f"{w.number(1, 9)}.{w.number(0, 30)}.{w.number(0, 9)}.{w.number(1, 900)}" if w.number(0, 3) == 0 else w.hex(7)})


def broker(w):
    return f"[{w.tick(9):%Y-%m-%d %H:%M:%S},{w.number(0, 999):03}] INFO " + w.pick([
        f"[GroupCoordinator {w.number(1, 5)}]: Stabilized group orders generation {w.number(1, 900)} (__consumer_offsets-{w.number(0, 49)}) with {w.number(1, 12)} members",
        f"[UnifiedLog partition=orders-{w.number(0, 11)}, dir=/var/lib/kafka] Rolled new log segment at offset {w.digits(10)} in {w.number(1, 40)} ms.",
        f"Deleted segment {w.digits(20, '0')}.log.deleted",
        f"[ReplicaFetcher replicaId={w.number(1, 5)}, leaderId={w.number(1, 5)}, fetcherId=0] Truncating partition orders-{w.number(0, 11)} to offset {w.digits(9)}",
    ])


def redis(w):
    return f"{w.number(1, 90)}:M {w.tick(60):%d %b %Y %H:%M:%S}.{w.number(0, 999):03} {w.pick('*#-')} " + w.pick(["Background saving started by pid " + str(w.number(100, 9000)), "DB saved on disk", f"Fork CoW for RDB: current {w.number(1, 40)} MB, peak {w.number(1, 40)} MB, average {w.number(1, 40)} MB", "100 changes in 300 seconds. Saving...", f"DB 0: {w.digits(6)} keys ({w.digits(5)} volatile) in {2 ** w.number(10, 20)} slots HT."])


def payment(w):
    return f"{w.stamp()} gateway txn={w.digits(18)} terminal={w.digits(8)} batch={w.number(1, 999):03} stan={w.digits(6)} rrn={w.digits(12)} auth={w.hex(6).upper()} card=************{w.digits(4)} amount={w.number(100, 90_000)} currency={w.pick([826, 840, 978])} mcc={w.pick([5411, 5814, 4111, 5732])} result={w.pick(['00', '00', '05', '51', '91'])}"


def traceback(w):
    lines = ["Traceback (most recent call last):"]
    for _ in range(w.number(2, 6)):
        name = w.pick(WORDS)
        lines += [f'  File "/srv/app/{w.pick(SERVICES)}/{name}.py", line {w.number(3, 900)}, in {w.pick(["run", "load", "__enter__", "handle", "<lambda>"])}', f"    {name} = self.{w.pick(WORDS)}[{w.pick(['key', 'row.id', '-1', 'name.lower()'])}]"]
    return "\n".join([*lines, w.pick([f"KeyError: {w.digits(10)}", "ValueError: not enough values to unpack (expected 3, got 2)", f"UnicodeDecodeError: 'utf-8' codec can't decode byte 0x{w.hex(2)} in position {w.number(0, 9000)}: invalid start byte", f"MemoryError: Unable to allocate {w.measure(1, 90)} GiB for an array with shape ({w.digits(6)}, {w.digits(5)}) and data type float64"]), ""])


def compiler(w):
    name = w.pick(WORDS)
    return w.pick([
        f"src/{name}.c:{w.number(1, 900)}:{w.number(1, 80)}: warning: comparison of integer expressions of different signedness: 'int' and 'size_t' [-Wsign-compare]",
        f"error[E0502]: cannot borrow `{name}` as mutable because it is also borrowed as immutable\n  --> src/{w.pick(WORDS)}.rs:{w.number(1, 900)}:{w.number(1, 60)}",
        f"src/{name}.ts({w.number(1, 900)},{w.number(1, 60)}): error TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'string'.",
        f"./{name}.go:{w.number(1, 900)}:{w.number(1, 60)}: declared and not used: {w.pick(WORDS)}",
        f"{name.title()}.java:{w.number(1, 900)}: error: incompatible types: possible lossy conversion from long to int",
        f"/usr/bin/ld: {name}.o: in function `{w.pick(WORDS)}_open': undefined reference to `{w.pick(WORDS)}_close'",
    ])


def provision(w):
    return w.pick([
        lambda: f"aws_instance.{w.pick(WORDS)}[{w.number(0, 3)}]: Creation complete after {w.number(10, 90)}s [id=i-{w.hex(17)}]",
        lambda: f"aws_subnet.{w.pick(WORDS)}: Refreshing state... [id=subnet-{w.hex(17)}]",
        lambda: f"Plan: {w.number(1, 9)} to add, {w.number(0, 9)} to change, {w.number(0, 3)} to destroy.",
        lambda: f"TASK [{w.pick(SERVICES)} : Install {w.pick(WORDS)} packages] " + "*" * w.number(20, 50),
        lambda: f"changed: [web-{w.number(1, 12):02}] => (item={w.pick(WORDS)}-{w.number(1, 9)}.{w.number(0, 30)}.{w.number(0, 9)})",
        lambda: f"web-{w.number(1, 12):02}                     : ok={w.number(10, 60)}   changed={w.number(0, 9)}    unreachable=0    failed=0    skipped={w.number(0, 20)}",
        lambda: f'  + resource "aws_security_group_rule" "{w.pick(WORDS)}" {{\n      + cidr_blocks = ["{w.address()}/32"]\n      + from_port   = {w.number(20, 9000)}\n      + id          = (known after apply)\n    }}',
    ])()


def windows(w):
    return f"{w.pick(['Information', 'Warning', 'Error']):<12}{w.tick(90):%m/%d/%Y %I:%M:%S %p}  {w.pick(['Service Control Manager', 'Kernel-General', 'DistributedCOM', 'WindowsUpdateClient', 'Disk']):<24} {w.number(1, 7050):<6}" + w.pick(["The Background Intelligent Transfer Service service entered the running state.", "The system time has changed.", f"Installation Successful: Windows successfully installed the following update: Security Intelligence Update KB{w.digits(7)} (Version 1.{w.number(300, 420)}.{w.number(1, 2000)}.0)", "The server {" + w.uuid() + "} did not register with DCOM within the required timeout.", f"The IO operation at logical block address 0x{w.hex(8)} for Disk {w.number(0, 4)} was retried."])


def metrics(w):
    name = f"{w.pick(WORDS)}_{w.pick(WORDS)}"
    return f"# HELP {name}_seconds Time spent in {w.pick(WORDS)} {w.pick(WORDS)}s.\n# TYPE {name}_seconds histogram\n" + "\n".join(f'{name}_seconds_bucket{{service="{w.pick(SERVICES)}",le="{le}"}} {w.digits(9)}' for le in ("0.005", "0.05", "0.5", "5", "+Inf")) + f"\n{name}_seconds_sum {w.measure(1e6, 9e9, 6)}\n{name}_created 1.{w.digits(9)}e+09"


def sensor(w):
    return f"{int(w.tick(30).timestamp() * 1000)} node={w.number(1, 64):02} rssi=-{w.number(40, 110)}dBm seq={w.digits(10)} t={w.measure(-9, 35, 1)}C rh={w.measure(20, 90, 1)}% p={w.measure(980, 1040, 1)}hPa vbat={w.measure(3, 4)}V crc=0x{w.hex(4)} {w.pick(['', '', 'RESEND', 'LOWBAT', 'dup'])}".rstrip()


def transfer(w):
    return f"* Connected to {entity('URL', 'files.example.net')} ({w.address()}) port 443\n* TLSv1.3 (OUT), TLS handshake, Client hello (1):\n* SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384 / X25519 / id-ecPublicKey\n> GET {w.path()} HTTP/2\n> Accept: */*\n< HTTP/2 {w.pick([200, 206, 404])}\n< etag: \"{w.hex(32)}\"\n< x-request-id: {w.uuid()}\n< content-length: {w.digits(7)}\n< age: {w.number(1, 90_000)}\n{{ [{w.number(900, 16384)} bytes data]"


def debugger(w):
    return f"#{w.number(0, 30):<3} 0x{w.hex(16)} in {w.pick(WORDS)}_{w.pick(['open', 'walk', 'free', 'commit'])} (ctx=0x{w.hex(12)}, n={w.number(0, 90_000)}) at {w.pick(WORDS)}.c:{w.number(10, 4000)}\n" + (f"rax 0x{w.hex(16)}  rbx 0x{w.hex(16)}  rip 0x{w.hex(16)}\n" if w.number(0, 3) == 0 else "") + (f"[New Thread 0x{w.hex(12)} (LWP {w.number(1000, 99999)})]" if w.number(0, 3) == 0 else f"[Thread 0x{w.hex(12)} (LWP {w.number(1000, 99999)}) exited]")


def neighbours(w):
    return w.pick([lambda: f"{w.address()} dev eth0 lladdr {w.hardware()} {w.pick(['REACHABLE', 'STALE', 'DELAY'])}", lambda: f"{w.address6()} dev eth0 lladdr {w.hardware()} router STALE", lambda: f"{w.tick(1):%H:%M:%S.%f} IP {w.address()}.{w.number(1024, 65535)} > {w.address()}.443: Flags [P.], seq {w.digits(9)}:{w.digits(9)}, ack {w.digits(10)}, win {w.number(200, 65535)}, options [nop,nop,TS val {w.digits(10)} ecr {w.digits(10)}], length {w.number(0, 1448)}"])()


LOGS = {f.__name__.replace("_", "-"): f for f in (nginx_access, nginx_error, journal, kernel, klog, kubectl, java, postgres, pipeline, structured, broker, redis, payment, traceback, compiler, provision, windows, metrics, sensor, transfer, debugger, neighbours)}

# Tables: a head, and a function that writes a row's cells.


def check13(body: str) -> str:
    return body + str(-sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(body)) % 10)


def isbn10(body: str) -> str:
    return body + "0123456789X"[-sum(int(d) * (10 - i) for i, d in enumerate(body)) % 11]


def order_number(w) -> str:
    """Sixteen digits: most fail Luhn's check, and those that pass start as no card does."""
    return next(n for n in iter(lambda: w.digits(16, "0123456789"), "") if not luhn(n) or n[0] in "0789")


FOOD = "Apple Apricot Aubergine Basil Beetroot Brie Caraway Celery Cheddar Cherry Chestnut Clementine Coriander Damson Endive Fennel Ginger Gouda Kale Lemon Madeleine Marjoram Melba Mint Nectarine Olive Paprika Parsley Pavlova Peach Pepper Quince Rosemary Saffron Sage Sorrel Sultana Thyme Victoria Walnut".split()
FLOWERS = "Amaryllis Aster Begonia Camellia Clover Dahlia Daisy Erica Fern Forsythia Fuchsia Heather Holly Hyacinth Iris Ivy Jasmine Lavender Lily Magnolia Marigold Myrtle Pansy Poppy Primrose Rose Violet Willow Yarrow Zinnia".split()
ELEMENTS = "Helium Lithium Beryllium Carbon Nitrogen Neon Sodium Silicon Argon Calcium Titanium Chromium Manganese Iron Cobalt Nickel Copper Zinc Gallium Germanium Selenium Krypton Strontium Silver Indium Iodine Xenon Gold Mercury Lead Radon Francium Americium".split()
COLOURS = "Amber Auburn Azure Burgundy Cerise Champagne Cobalt Coral Crimson Ebony Hazel Indigo Ivory Jade Lilac Mauve Olive Rose Ruby Rust Scarlet Sienna Teal Violet".split()

TABLES = {
    "orders": ("order_no,placed,lines,gross,net", lambda w: [order_number(w), f"{w.tick(4000):%Y-%m-%d}", w.number(1, 40), w.measure(5, 900), w.measure(4, 800)]),
    "stock": ("ean,description,bin,on hand,reserved", lambda w: [check13(w.digits(12)), f"{w.pick(FOOD)} {w.pick(['250 g', '1 kg', '6 pack', '75 cl'])}", f"{w.pick('ABCDEF')}{w.number(1, 60):02}-{w.number(1, 9)}", w.number(0, 900), w.number(0, 90)]),
    "books": ("isbn-10,isbn-13,pages,price", lambda w: [isbn10(w.digits(9, "0123456789")), check13("978" + w.digits(9)), w.number(60, 900), w.measure(4, 60)]),
    "sensors": ("epoch_ms,channel,celsius,humidity,lux", lambda w: [int(w.tick(60).timestamp() * 1000), f"ch{w.number(1, 16)}", w.measure(-9, 35, 3), w.measure(20, 95, 2), w.number(0, 90_000)]),
    "telemetry": ("epoch_s,lat,lon,alt_m,speed_kmh,heading", lambda w: [int(w.tick(5).timestamp()), w.measure(-60, 70, 6), w.measure(-170, 170, 6), w.number(0, 3000), w.measure(0, 130, 1), w.number(0, 359)]),
    "hashes": ("size,md5,sha1,sha256", lambda w: [w.digits(8), w.hex(32), w.hex(40), w.hex(64)]),
    "prices": ("date,open,high,low,close,volume", lambda w: [f"{w.tick(86400):%Y-%m-%d}", *(w.measure(90, 110) for _ in range(4)), w.digits(8)]),
    "food": ("food,kcal,protein g,fat g,carbohydrate g,salt g", lambda w: [w.pick(FOOD), w.number(10, 700), *(w.measure(0, 60, 1) for _ in range(3)), w.measure(0, 3)]),
    "flowers": ("plant,colour,height cm,spread cm,sow,flower", lambda w: [w.pick(FLOWERS), w.pick(COLOURS), w.number(10, 180), w.number(10, 90), w.pick(["March", "April", "May", "June"]), w.pick(["June to August", "July", "May", "August"])]),
    "elements": ("element,Z,mass u,density g/cm3,melting K,boiling K", lambda w: [w.pick(ELEMENTS), w.number(1, 118), w.measure(1, 260, 4), w.measure(0, 22, 4), w.measure(10, 3600), w.measure(10, 5800)]),
    "paint": ("shade,code,hex,L*,a*,b*,litres", lambda w: [f"{w.pick(COLOURS)} {w.pick(['Grey', 'Mist', 'Dawn', 'White', 'Sand'])}", f"{w.pick('ABCDEFG')}{w.digits(4)}", "#" + w.hex(6), w.measure(0, 100, 1), w.measure(-60, 60, 1), w.measure(-60, 60, 1), w.pick([0.75, 2.5, 5])]),
    "meters": ("meter,serial,previous,current,kWh", lambda w: [w.digits(9), w.digits(11), w.digits(6), w.digits(6), w.measure(1, 900, 1)]),
    "lots": ("lot,part no.,produced,units,rejected", lambda w: [f"{w.digits(3)}-{w.digits(2)}-{w.digits(4)}", f"{w.digits(3)}-{w.digits(3)}-{w.digits(2)}", f"week {w.number(1, 52)}", w.number(100, 9000), w.number(0, 30)]),
    "parts": ("part no.,rev,thread,length mm,torque Nm,per box", lambda w: [f"{w.digits(3)}-{w.digits(3)}-{w.digits(4)}", w.pick("ABCD"), f"M{w.pick([3, 4, 5, 6, 8, 10])}x{w.pick(['0.5', '0.7', '1.0', '1.25'])}", w.number(6, 120), w.measure(0, 60, 1), w.pick([50, 100, 500])]),
    "assets": ("asset id,serial,firmware,uptime s,errors", lambda w: [w.digits(10), f"{w.pick(string.ascii_uppercase)}{w.pick(string.ascii_uppercase)}{w.digits(9)}", f"{w.number(1, 12)}.{w.number(0, 99)}.{w.number(0, 9)}.{w.number(1, 255)}", w.digits(8), w.number(0, 40)]),
    "marks": ("candidate,paper 1,paper 2,paper 3,total,grade", lambda w: [w.digits(8), *(w.number(0, 100) for _ in range(3)), w.number(0, 300), w.pick("ABCDE")]),
    "benchmark": ("case,iterations,ns/op,B/op,allocs/op", lambda w: [f"Benchmark{w.pick(WORDS).title()}/{2 ** w.number(4, 20)}-8", w.digits(7), w.measure(10, 90_000, 1), w.number(0, 90_000), w.number(0, 900)]),
    "timetable": ("train,platform,arrives,departs,minutes late", lambda w: [w.digits(5), w.number(1, 14), *(f"{w.number(0, 23):02}:{w.number(0, 59):02}" for _ in range(2)), w.number(0, 30)]),
    "survey": ("station,n,mean,sd,min,p25,p50,p75,max", lambda w: [f"S{w.number(1, 400):03}", w.number(30, 9000), *(w.measure(0, 100, 3) for _ in range(7))]),
    "flow": ("ts_ns,src_port,dst_port,proto,bytes,packets", lambda w: [f"{w.digits(10, '1')}{w.digits(9)}", w.number(1024, 65535), w.pick([53, 80, 443, 5432]), w.pick(["TCP", "UDP"]), w.digits(6), w.number(1, 900)]),
    "parcels": ("tracking no.,weight kg,depot,scans,status", lambda w: [w.pick([lambda: w.digits(12), lambda: f"1Z{w.hex(16).upper()}", lambda: w.digits(20, "9")])(), w.measure(0, 30), w.number(1, 90), w.number(1, 9), w.pick(["In transit", "Delivered", "Held", "Returned"])]),
    "accounts": ("cost centre,ledger,reference,debit,credit", lambda w: [w.digits(6), w.digits(8), w.digits(15), w.measure(0, 90_000), w.measure(0, 90_000)]),
    "genes": ("probe,chromosome,start,end,log2 fold,p", lambda w: [f"{w.digits(7)}_at", w.pick([*range(1, 23), "X"]), w.digits(8), w.digits(8), w.measure(-4, 4, 3), f"{w.measure(1, 9)}e-{w.number(2, 40):02}"]),
    "ephemeris": ("julian day,right ascension,declination,distance au,magnitude", lambda w: [w.measure(2460000, 2462000, 4), f"{w.number(0, 23):02} {w.number(0, 59):02} {w.measure(0, 59)}", f"{w.pick('+-')}{w.number(0, 89):02} {w.number(0, 59):02} {w.measure(0, 59, 1)}", w.measure(0, 40, 6), w.measure(-4, 15)]),
    "waves": ("x,sin x,cos x,exp -x", lambda w: [x := round(w.random.uniform(0, 20), 4), f"{math.sin(x):.10f}", f"{math.cos(x):.10f}", f"{math.exp(-x):.6e}"]),
}


def table(w, head: str, cells, style: str, size: int) -> str:
    rows, length = [head.split(",")], 0
    while length < size:
        rows.append([str(cell) for cell in cells(w)])
        length += sum(map(len, rows[-1])) + len(rows[-1])
    if style == "markdown":
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
    if style == "fixed":
        widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
        return "\n".join("".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows) + "\n"
    if style == "json":
        return json.dumps([dict(zip(rows[0], row, strict=True)) for row in rows[1:]], indent=1) + "\n"
    return "\n".join((";" if style == "semicolon" else "\t" if style == "tsv" else ",").join(row) for row in rows) + "\n"


def main():
    documents = []
    for name, line in LOGS.items():
        w, text = Writer(name), ""
        while len(MARK.sub(r"\2", text)) < 4400:
            text += line(w) + "\n"
        documents.append(document(f"logs-{name}", "logs", text))
    for i, (name, (head, cells)) in enumerate(TABLES.items()):
        style = ("csv", "fixed", "markdown", "tsv", "semicolon")[i % 5]
        documents.append(document(f"tables-{name}", "tables", table(Writer(name), head, cells, style, 3800)))
    for name in ("orders", "stock", "lots", "assets"):
        documents.append(document(f"tables-{name}-json", "tables", table(Writer(name + " json"), *TABLES[name], "json", 1500)))
    for each in documents:
        sys.stdout.write(json.dumps(each, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
