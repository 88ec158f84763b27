package org.revenantdb.kafka.trials;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.revenantdb.chaos.crash.ForkedJvm;

/** A real broker, in a forked JVM. */
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

  private final ForkedJvm process;
  private final String servers;

  private Broker(ForkedJvm process, String servers) {
    this.process = process;
    this.servers = servers;
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
    String said = "";
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) { // somebody may take its port first
      List<Integer> ports = freePorts();
      ForkedJvm process =
          jvm(BrokerMain.class)
              .flags(flags)
              .argument(directory.resolve("broker" + attempt))
              .argument(ports.getFirst())
              .argument(ports.getLast())
              .fork();
      String line = process.readLine();
      if (line != null && line.startsWith(UP)) {
        return new Broker(process, line.substring(UP.length()));
      }
      process.awaitEnd();
      said = process.stderr();
      process.close();
    }
    throw new NoBrokerException("a Kafka broker cannot be started here; it printed:\n" + said);
  }

  private static List<Integer> freePorts() throws NoBrokerException {
    InetAddress local = InetAddress.getLoopbackAddress();
    try (ServerSocket first = new ServerSocket(0, 1, local);
        ServerSocket second = new ServerSocket(0, 1, local)) {
      return List.of(first.getLocalPort(), second.getLocalPort());
    } catch (IOException noSocket) {
      throw new NoBrokerException("no socket can be opened here: " + noSocket, noSocket);
    }
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
        topics.add(new NewTopic(name, partitions, (short) 1));
      }
      admin.createTopics(topics).all().get();
    } catch (ExecutionException failed) {
      throw new IllegalStateException(
          "the topics " + List.of(names) + " cannot be created at " + servers, failed);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
