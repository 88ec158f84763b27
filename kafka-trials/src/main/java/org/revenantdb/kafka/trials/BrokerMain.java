package org.revenantdb.kafka.trials;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import kafka.Kafka;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.common.Uuid;

/**
 * A Kafka broker and controller in a JVM of its own. It writes {@code UP servers} to the standard
 * output when clients can connect, and ends with the process that started it.
 */
public final class BrokerMain {
  private static final DescribeClusterOptions ONE_LOOK =
      new DescribeClusterOptions().timeoutMs(2_000);

  private BrokerMain() {}

  /**
   * Runs it.
   *
   * @param arguments directory, port of the broker, port of the controller
   * @throws IOException if its directory cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    endWithParent();
    PrintStream out = System.out;
    System.setOut(System.err); // what Kafka prints is no answer
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
            System.err);
    if (formatted != 0) {
      System.exit(formatted);
    }
    String servers = "localhost:" + arguments[1];
    Thread.ofPlatform().daemon().name("up").start(() -> tellWhenUp(servers, out));
    Kafka.main(new String[] {properties.toString()});
  }

  private static void tellWhenUp(String servers, PrintStream out) {
    try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers))) {
      while (true) {
        try {
          if (!admin.describeCluster(ONE_LOOK).nodes().get().isEmpty()) {
            out.println("UP " + servers);
            out.flush();
            return;
          }
        } catch (ExecutionException notYet) {
          // asked again, as long as the process lives
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The standard input ends when the process ends that holds its other end. */
  static void endWithParent() {
    Thread.ofPlatform()
        .daemon()
        .name("parent")
        .start(() -> {
          try {
            while (System.in.read() >= 0) {
              // nobody writes
            }
          } catch (IOException e) {
            System.err.write('\n'); // as good as the end
          }
          Runtime.getRuntime().halt(3);
        });
  }
}
