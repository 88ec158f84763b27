package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Assumptions;

/** A real broker, in a forked JVM. */
final class Broker implements AutoCloseable {
  private static final int ATTEMPTS = 3;

  /** How long a client of Kafka waits at most: a busy machine is not a failure. */
  static final int PATIENCE_MILLIS = 1_200_000;

  private static final DescribeClusterOptions ONE_LOOK =
      new DescribeClusterOptions().timeoutMs(2_000);

  private final Process process;
  private final String servers;

  private Broker(Process process, String servers) {
    this.process = process;
    this.servers = servers;
  }

  /** Starts one; where that is not possible the test is skipped, and says what the broker said. */
  static Broker start(Path directory) throws IOException, InterruptedException {
    Path log = directory.resolve("broker.log");
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) { // somebody may take its port first
      List<Integer> ports = freePorts();
      int port = ports.getFirst();
      Process process =
          fork(
              BrokerMain.class,
              log,
              List.of("-Xmx320m"),
              List.of(
                  directory.resolve("broker" + attempt).toString(),
                  Integer.toString(port),
                  ports.getLast().toString()));
      Broker broker = new Broker(process, "localhost:" + port);
      if (broker.isUp()) {
        return broker;
      }
      broker.close();
    }
    Assumptions.abort(
        "NO BROKER: a Kafka broker cannot be started here, so nothing was tested; it said:\n"
            + Files.readString(log));
    throw new AssertionError();
  }

  private static List<Integer> freePorts() {
    InetAddress local = InetAddress.getLoopbackAddress();
    try (ServerSocket first = new ServerSocket(0, 1, local);
        ServerSocket second = new ServerSocket(0, 1, local)) {
      return List.of(first.getLocalPort(), second.getLocalPort());
    } catch (IOException noSocket) {
      Assumptions.abort(
          "NO BROKER: no socket can be opened here, so nothing was tested: " + noSocket);
      throw new AssertionError(noSocket);
    }
  }

  /** A JVM with the class path of this one, and a small heap. */
  static Process fork(Class<?> main, Path errors, List<String> flags, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(
        List.of(
            "-ea",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xshare:auto",
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            main.getName()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
    if (main == BrokerMain.class) {
      builder.redirectOutput(ProcessBuilder.Redirect.appendTo(errors.toFile()));
    }
    return builder.start();
  }

  private boolean isUp() throws InterruptedException {
    try (Admin admin = admin()) {
      while (process.isAlive()) {
        try {
          if (!admin.describeCluster(ONE_LOOK).nodes().get().isEmpty()) {
            return true;
          }
        } catch (ExecutionException notYet) {
          // asked again, as long as the process lives
        }
      }
      return false;
    }
  }

  String servers() {
    return servers;
  }

  Admin admin() {
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

  void createTopics(int partitions, String... names) throws Exception {
    try (Admin admin = admin()) {
      List<NewTopic> topics = new ArrayList<>();
      for (String name : names) {
        topics.add(new NewTopic(name, partitions, (short) 1));
      }
      admin.createTopics(topics).all().get();
    }
  }

  @Override
  public void close() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }
}
