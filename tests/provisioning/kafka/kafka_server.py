"""A real Kafka for tests: one node that is broker and controller, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from tests.monitoring.zookeeper_server import free_port

LIB = Path(__file__).resolve().parents[3] / "build/kafka/4.1.0/lib"
USER, PASSWORD = "taxi", "secret"
PATIENCE_MS = 60_000  # for a machine that is busy with other things; it is up in seconds
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{broker},SECURE://127.0.0.1:{secure},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker},SECURE://127.0.0.1:{secure}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
ssl.keystore.type=PKCS12
ssl.keystore.location={keystore}
ssl.keystore.password={password}
log.dirs={folder}
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
log.cleaner.enable=false
"""


class KafkaServer:
    """Stopped by its process id, and by the kernel once whoever started it is gone.

    Attributes:
        secure: Where it wants TLS and the password of a user.
        address: Where it wants neither.
        certificate: File of what it shows there, which no authority has signed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address, self.secure = (f"127.0.0.1:{free_port(socket.SOCK_STREAM)}" for _ in range(2))
        self.certificate = folder / "certificate.pem"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert LIB.is_dir(), f"{LIB} is missing: make servers assembles it"
        data = self._folder / "data"
        data.mkdir(parents=True)
        # what Kafka's own tool for formatting writes, in a process of its own that takes as long as the start
        (data / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=5L6g3nShT-eMCtK--X86sw\n")
        settings = self._folder / "server.properties"
        ports = {"broker": self.address.rpartition(":")[2], "controller": free_port(socket.SOCK_STREAM)}
        secure = {"secure": self.secure.rpartition(":")[2], "user": USER, "password": PASSWORD}
        settings.write_text(_SETTINGS.format(folder=data, keystore=self._certified(), **ports, **secure))
        lean = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{LIB}/*"]
        with (self._folder / "kafka.log").open("ab") as out:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", "java", *lean, "kafka.Kafka", str(settings)],
                stdout=out,
                stderr=out,
            )
        try:
            # the first group of all makes the topic of committed offsets, and until then has no coordinator
            self.make("ready", 1)
            self.put("ready", 0, 1)
            self.take("ready", 0, 1)
        except BaseException:
            self.stop()
            raise

    def _certified(self) -> Path:
        """Make a key and its certificate; return the file that Kafka reads both from."""
        keystore = self._folder / "keystore.p12"
        where = ["-keystore", str(keystore), "-storepass", PASSWORD, "-alias", "kafka"]
        kind = ["-storetype", "PKCS12", "-keyalg", "EC", "-validity", "1"]
        whose = ["-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1"]
        for command in (
            ["-genkeypair", *kind, *whose],
            ["-exportcert", "-rfc", "-file", str(self.certificate)],
        ):
            subprocess.run(["keytool", *command, *where], check=True, capture_output=True)
        return keystore

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def admin(self) -> KafkaAdminClient:
        return KafkaAdminClient(bootstrap_servers=self.address, bootstrap_timeout_ms=PATIENCE_MS)

    def make(self, topic: str, partitions: int) -> None:
        admin = self.admin()
        admin.create_topics([NewTopic(topic, partitions, 1)])
        admin.close()

    def put(self, topic: str, partition: int, count: int) -> None:
        """Put some items into a partition."""
        producer = KafkaProducer(bootstrap_servers=self.address)
        for number in range(count):
            producer.send(topic, str(number).encode(), partition=partition)
        producer.flush()
        producer.close()

    def take(self, topic: str, partition: int, count: int, group: str = "taxi") -> None:
        """Read some items of a partition as a group, and commit that."""
        consumer = KafkaConsumer(
            bootstrap_servers=self.address,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_poll_records=count,
        )
        consumer.assign([TopicPartition(topic, partition)])
        (items,) = consumer.poll(timeout_ms=PATIENCE_MS).values()
        assert len(items) == count
        consumer.commit()
        consumer.close()
