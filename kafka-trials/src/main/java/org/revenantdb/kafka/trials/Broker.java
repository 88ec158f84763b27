package org.revenantdb.kafka.trials;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.Together;

/** One or several real brokers, each in a forked JVM. */
public final class Broker implements AutoCloseable {
  private static final int ATTEMPTS = 3;

  /** How long a client of Kafka waits at most: a busy machine is not a failure. */
  public static final int PATIENCE_MILLIS = 1_200_000;

  private static final String UP = "UP ";
  private static final Duration NEVER = Duration.ofDays(366);

  /** What a JVM needs that runs Kafka; none of it is for us. */
  private static final String[] KAFKA_FLAGS = {
    "--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"
  };

  private final Path directory;
  private final List<Integer> ports;
  private final String[] flags;
  private final List<ForkedJvm> nodes = new ArrayList<>();
  private final String servers;

  private Broker(Path directory, List<Integer> ports, String[] flags) {
    this.directory = directory;
    this.ports = ports;
    this.flags = flags;
    try {
      for (int node = 0; node < ports.size() / 2; node++) {
        nodes.add(fork(node));
      }
    } catch (RuntimeException notStarted) {
      close();
      throw notStarted;
    }
    this.servers =
        IntStream.range(0, nodes.size())
            .mapToObj(node -> "localhost:" + ports.get(2 * node))
            .collect(Collectors.joining(","));
  }

  private ForkedJvm fork(int node) {
    ForkedJvm.Builder builder =
        jvm(BrokerMain.class)
            .flags(flags)
            .argument(directory.resolve("node" + (node + 1)))
            .argument(node + 1);
    ports.forEach(builder::argument);
    return builder.fork();
  }

  /**
   * Starts one.
   *
   * @param directory for its files
   * @param flags of its JVM
   * @return the broker, which clients can connect to
   * @throws NoBrokerException if that is not possible here
   */
  public static Broker start(Path directory, String... flags) throws NoBrokerException {
    return start(directory, 1, flags);
  }

  /**
   * Starts several, which replicate each topic to all of them.
   *
   * @param directory for their files
   * @param count how many
   * @param flags of each JVM
   * @return the brokers, which clients can connect to
   * @throws NoBrokerException if that is not possible here
   */
  public static Broker start(Path directory, int count, String... flags) throws NoBrokerException {
    String said = "";
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) { // somebody may take a port first
      Broker broker =
          new Broker(directory.resolve("brokers" + attempt), freePorts(2 * count), flags);
      List<ForkedJvm> failed = broker.awaitAll();
      if (failed.isEmpty()) {
        return broker;
      }
      broker.close();
      said = failed.getFirst().stderr();
    }
    throw new NoBrokerException("a Kafka broker cannot be started here; it printed:\n" + said);
  }

  /** Waits until all are up. If one ends before, the others wait for it in vain, and are ended. */
  private List<ForkedJvm> awaitAll() {
    Queue<ForkedJvm> failed = new ConcurrentLinkedQueue<>();
    List<Thread> waiting = new ArrayList<>();
    for (ForkedJvm node : nodes) {
      waiting.add(
          Thread.startVirtualThread(() -> {
            if (!isUp(node)) {
              failed.add(node);
              nodes.forEach(ForkedJvm::kill);
            }
          }));
    }
    for (Thread each : waiting) {
      Together.join(each);
    }
    return List.copyOf(failed);
  }

  private static boolean isUp(ForkedJvm node) {
    String line = node.readLine();
    return line != null && line.startsWith(UP);
  }

  private static List<Integer> freePorts(int count) throws NoBrokerException {
    InetAddress local = InetAddress.getLoopbackAddress();
    List<Integer> ports = new ArrayList<>();
    List<ServerSocket> sockets = new ArrayList<>();
    try {
      try {
        for (int i = 0; i < count; i++) {
          ServerSocket socket = new ServerSocket(0, 1, local);
          sockets.add(socket);
          ports.add(socket.getLocalPort());
        }
      } finally {
        for (ServerSocket socket : sockets) {
          socket.close();
        }
      }
      return ports;
    } catch (IOException noSocket) {
      throw new NoBrokerException("no socket can be opened here: " + noSocket, noSocket);
    }
  }

  /**
   * Kills one of several brokers, and starts it again on its files.
   *
   * @param node from 0
   * @param meanwhile is run while it is away
   * @throws IllegalStateException if it does not come back
   * @throws Exception what {@code meanwhile} throws
   */
  public void withoutOne(int node, Meanwhile meanwhile) throws Exception {
    nodes.get(node).kill();
    nodes.get(node).close();
    meanwhile.run();
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) { // a client may have its port
      ForkedJvm again = fork(node);
      nodes.set(node, again);
      if (isUp(again)) {
        return;
      }
      again.awaitEnd();
    }
    throw new IllegalStateException(
        "broker " + node + " does not come back: " + nodes.get(node).stderr());
  }

  /** What is done while a broker is away. */
  @FunctionalInterface
  public interface Meanwhile {
    /**
     * Does it.
     *
     * @throws Exception if it fails
     */
    void run() throws Exception;
  }

  /**
   * Returns how many brokers there are.
   *
   * @return 1 or more
   */
  public int count() {
    return nodes.size();
  }

  /**
   * A JVM that runs Kafka. It may be silent: a broker has nothing to report.
   *
   * @param main the class whose {@code main} it runs
   * @return a description, to which flags and arguments can be added
   */
  public static ForkedJvm.Builder jvm(Class<?> main) {
    return ForkedJvm.of(main)
        .flags(KAFKA_FLAGS)
        .flags("-XX:+UseSerialGC", "-Xshare:auto")
        .stallLimit(NEVER);
  }

  /**
   * Returns where clients connect.
   *
   * @return host and port
   */
  public String servers() {
    return servers;
  }

  /**
   * Opens a client for topics and groups.
   *
   * @return the client, which the caller closes
   */
  public Admin admin() {
    return admin(servers);
  }

  static Admin admin(String servers) {
    return Admin.create(
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
            servers,
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            PATIENCE_MILLIS,
            AdminClientConfig.RETRY_BACKOFF_MS_CONFIG,
            50,
            AdminClientConfig.RECONNECT_BACKOFF_MS_CONFIG,
            50));
  }

  /**
   * Creates topics.
   *
   * @param partitions of each
   * @param names of the topics
   * @throws InterruptedException if the thread is interrupted
   */
  public void createTopics(int partitions, String... names) throws InterruptedException {
    createTopics(servers, partitions, names);
  }

  static void createTopics(String servers, int partitions, String... names)
      throws InterruptedException {
    try (Admin admin = admin(servers)) {
      List<NewTopic> topics = new ArrayList<>();
      for (String name : names) {
        topics.add(new NewTopic(name, Optional.of(partitions), Optional.empty()));
      }
      admin.createTopics(topics).all().get();
    } catch (ExecutionException failed) {
      throw new IllegalStateException(
          "the topics " + List.of(names) + " cannot be created at " + servers, failed);
    }
  }

  @Override
  public void close() {
    nodes.forEach(ForkedJvm::close);
  }
}
