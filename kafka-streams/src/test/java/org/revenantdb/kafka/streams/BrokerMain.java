package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import kafka.Kafka;
import kafka.tools.StorageTool;
import org.apache.kafka.common.Uuid;

/** A Kafka broker and controller in a JVM of its own. It ends with the process that started it. */
final class BrokerMain {
  private BrokerMain() {}

  /** Directory, port of the broker, port of the controller. */
  public static void main(String[] arguments) throws IOException {
    endWithParent();
    Path directory = Path.of(arguments[0]);
    Path properties = Files.createDirectories(directory).resolve("server.properties");
    Files.write(
        properties,
        List.of(
            "process.roles=broker,controller",
            "node.id=1",
            "controller.quorum.voters=1@localhost:" + arguments[2],
            "listeners=PLAINTEXT://localhost:%s,CONTROLLER://localhost:%s"
                .formatted(arguments[1], arguments[2]),
            "inter.broker.listener.name=PLAINTEXT",
            "controller.listener.names=CONTROLLER",
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs=" + directory.resolve("logs"),
            "auto.create.topics.enable=false",
            "offsets.topic.replication.factor=1",
            "offsets.topic.num.partitions=1",
            "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1",
            "transaction.state.log.num.partitions=1",
            "group.initial.rebalance.delay.ms=0",
            "log.cleaner.dedupe.buffer.size=2000000"));
    int formatted =
        StorageTool.execute(
            new String[] {
              "format",
              "--cluster-id",
              Uuid.randomUuid().toString(),
              "--config",
              properties.toString(),
              "--ignore-formatted"
            },
            System.out);
    if (formatted != 0) {
      System.exit(formatted);
    }
    Kafka.main(new String[] {properties.toString()});
  }

  /** The standard input ends when the process ends that holds its other end. */
  static void endWithParent() {
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try {
            while (System.in.read() >= 0) {
              // nobody writes
            }
          } catch (IOException e) {
            // as good as the end
          }
          Runtime.getRuntime().halt(3);
        });
  }
}
