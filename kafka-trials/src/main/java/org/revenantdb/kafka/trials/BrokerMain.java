package org.revenantdb.kafka.trials;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import kafka.Kafka;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeClusterOptions;

/**
 * A Kafka broker and controller in a JVM of its own, alone or as one of several. It writes {@code
 * UP server} to the standard output when clients can connect, and ends with the process that
 * started it.
 */
public final class BrokerMain {
  private static final DescribeClusterOptions ONE_LOOK =
      new DescribeClusterOptions().timeoutMs(2_000);

  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);

  /** The same for each node and each life: "revenant-cluster". */
  private static final String CLUSTER = "cmV2ZW5hbnQtY2x1c3Rlcg";

  private BrokerMain() {}

  /**
   * Runs it.
   *
   * @param arguments directory, number of this node from 1, and of each node the ports of its
   *     broker and its controller
   * @throws IOException if its directory cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    endWithParent();
    PrintStream out = System.out;
    System.setOut(System.err); // what Kafka prints is no answer
    Path directory = Path.of(arguments[0]);
    int node = Integer.parseInt(arguments[1]);
    List<String> ports = List.of(arguments).subList(2, arguments.length);
    int nodes = ports.size() / 2;
    String brokerPort = ports.get(2 * node - 2);
    String voters =
        IntStream.rangeClosed(1, nodes)
            .mapToObj(voter -> voter + "@localhost:" + ports.get(2 * voter - 1))
            .collect(Collectors.joining(","));
    int quorum = nodes / 2 + 1;
    Path properties = Files.createDirectories(directory).resolve("server.properties");
    Files.write(
        properties,
        List.of(
            "process.roles=broker,controller",
            "node.id=" + node,
            "controller.quorum.voters=" + voters,
            "listeners=PLAINTEXT://localhost:%s,CONTROLLER://localhost:%s"
                .formatted(brokerPort, ports.get(2 * node - 1)),
            "inter.broker.listener.name=PLAINTEXT",
            "controller.listener.names=CONTROLLER",
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs=" + directory.resolve("logs"),
            "auto.create.topics.enable=false",
            "default.replication.factor=" + nodes,
            "min.insync.replicas=" + quorum,
            "offsets.topic.replication.factor=" + nodes,
            "offsets.topic.num.partitions=1",
            "transaction.state.log.replication.factor=" + nodes,
            "transaction.state.log.min.isr=" + quorum,
            "transaction.state.log.num.partitions=1",
            "group.initial.rebalance.delay.ms=0",
            "log.cleaner.dedupe.buffer.size=2000000"));
    int formatted =
        StorageTool.execute(
            new String[] {
              "format",
              "--cluster-id",
              CLUSTER,
              "--config",
              properties.toString(),
              "--ignore-formatted"
            },
            System.err);
    if (formatted != 0) {
      System.exit(formatted);
    }
    String server = "localhost:" + brokerPort;
    Thread.ofPlatform().daemon().name("up").start(() -> tellWhenUp(server, nodes, out));
    Kafka.main(new String[] {properties.toString()});
  }

  /** A topic can be made when as many brokers are there as it has replicas. */
  private static void tellWhenUp(String server, int nodes, PrintStream out) {
    try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, server))) {
      while (true) {
        try {
          if (admin.describeCluster(ONE_LOOK).nodes().get().size() == nodes) {
            out.println("UP " + server);
            out.flush();
            return;
          }
        } catch (ExecutionException notYet) {
          // asked again, as long as the process lives
        }
        Thread.sleep(BETWEEN_LOOKS);
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
