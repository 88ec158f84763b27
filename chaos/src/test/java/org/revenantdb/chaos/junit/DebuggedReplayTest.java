package org.revenantdb.chaos.junit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.HonestTiny;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.TinyStore;

/**
 * A replay that stops in a debugger. The debugger is a socket that speaks the first words of it.
 */
class DebuggedReplayTest {

  private static final String OPENED = "org.revenantdb.chaos.test.opened";

  @TempDir private Path kept;

  @BeforeEach
  void keepFilesHere() {
    System.setProperty(CrashTestSettings.DIR, kept.toString());
  }

  @AfterEach
  void forgetProperties() {
    List.of(CrashTestSettings.DIR, CrashTestSettings.REPLAY, CrashTestSettings.DEBUG, OPENED)
        .forEach(System::clearProperty);
  }

  /** Leaves a file when it is opened. */
  abstract static class Opened extends HonestTiny {
    @Override
    public TinyStore open(Path dir) throws Exception {
      Files.writeString(Path.of(System.getProperty(OPENED)), "x");
      return super.open(dir);
    }
  }

  @CrashTest
  static class InMemory extends Opened {}

  @CrashTest(files = FileAccess.ANY)
  static class OnDisk extends Opened {}

  @Test
  @Tag("slow")
  @DisabledOnOs(OS.WINDOWS) // there is no program "true" to launch
  void a_replay_with_a_port_stops_before_the_store_is_opened_until_a_debugger_lets_it_go_on()
      throws Exception {
    for (Class<?> type : List.of(InMemory.class, OnDisk.class)) {
      Path opened = kept.resolve(type.getSimpleName());
      System.setProperty(OPENED, opened.toString());
      System.setProperty(CrashTestSettings.REPLAY, String.valueOf(failureOf(type)));
      FutureTask<Events> replay;
      Socket connected;
      do {
        int port = freePort();
        System.setProperty(CrashTestSettings.DEBUG, Integer.toString(port));
        replay = new FutureTask<>(() -> run(type));
        Thread.ofPlatform().start(replay);
        connected = connected(port, replay);
      } while (connected == null); // another program had the port first
      try (Socket debugger = connected;
          DataOutputStream out = new DataOutputStream(debugger.getOutputStream())) {
        assertFalse(replay.isDone());
        assertFalse(Files.exists(opened), "the store is open already");
        goOn(out);
        Events events = replay.get();
        assertEquals(1, events.succeeded().count(), () -> message(events));
      }
      assertTrue(Files.exists(opened), "the store was opened");
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  /** A state that its store survives, as if it had failed. */
  private Path failureOf(Class<?> type) throws IOException {
    return FailureFile.keep(
        kept,
        new FailureFile(
            type.getName(),
            Verdict.LOST,
            "planted",
            /* seed= */ 1,
            "EXT4_ORDERED",
            /* seq= */ 1,
            new DiskImage(),
            new PromiseLog(),
            "planted"));
  }

  private static Events run(Class<?> type) {
    return EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(type))
        .execute()
        .testEvents();
  }

  /**
   * Tries until the JVM listens, which it does when it has stopped. Returns null if it could not
   * listen because another program had the port first.
   */
  private static @Nullable Socket connected(int port, FutureTask<Events> replay) throws Exception {
    while (true) {
      Socket socket = handshake(port, replay);
      if (socket != null) {
        return socket;
      }
      if (replay.isDone()) {
        String message = message(replay.get());
        assertTrue(message.contains("awaited at port " + port), "nobody listened: " + message);
        return null;
      }
      LockSupport.parkNanos(1_000_000); // the JVM needs the processor
    }
  }

  /** The first words. Null if nobody listens, or another program than a JVM that waits. */
  private static @Nullable Socket handshake(int port, FutureTask<Events> replay)
      throws IOException {
    byte[] hello = "JDWP-Handshake".getBytes(US_ASCII);
    Socket socket;
    try {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
    } catch (ConnectException e) {
      return null;
    }
    try {
      if (socket.getLocalPort() != port) { // else it has met itself
        socket.setSoTimeout(10); // another program may say nothing, while the replay ends
        socket.getOutputStream().write(hello);
        byte[] answer = new byte[hello.length];
        int known = 0;
        while (known < answer.length && !replay.isDone()) {
          try {
            int more = socket.getInputStream().read(answer, known, answer.length - known);
            if (more < 0) {
              break;
            }
            known += more;
          } catch (SocketTimeoutException e) {
            // The next round looks at the replay.
          }
        }
        if (Arrays.equals(hello, answer)) {
          return socket;
        }
      }
    } catch (SocketException e) {
      // The other program has closed it.
    }
    socket.close();
    return null;
  }

  /** The packet "Dispose" of the debugger: all threads go on, and the connection ends. */
  private static void goOn(DataOutputStream out) throws IOException {
    out.writeInt(11); // its length
    out.writeInt(1); // its number
    out.writeByte(0);
    out.writeByte(1); // of the virtual machine
    out.writeByte(6);
    out.flush();
  }

  @Test
  void a_port_without_a_replay_and_a_port_in_use_are_told() throws IOException {
    System.setProperty(CrashTestSettings.DEBUG, "5005");
    String refused =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(InMemory.class))
            .execute()
            .allEvents()
            .failed()
            .map(event -> event.getRequiredPayload(TestExecutionResult.class))
            .flatMap(result -> result.getThrowable().stream())
            .map(Throwable::getMessage)
            .toList()
            .toString();
    assertTrue(refused.contains("-Drevenant.chaos.debug needs -Drevenant.chaos.replay"), refused);
    System.setProperty(CrashTestSettings.REPLAY, String.valueOf(failureOf(InMemory.class)));
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      System.setProperty(CrashTestSettings.DEBUG, Integer.toString(other.getLocalPort()));
      Events events = run(InMemory.class);
      assertTrue(
          message(events).contains("awaited at port " + other.getLocalPort()),
          () -> message(events));
    }
  }

  private static String message(Events events) {
    return events
        .finished()
        .map(event -> event.getRequiredPayload(TestExecutionResult.class))
        .flatMap(result -> result.getThrowable().stream())
        .map(thrown -> String.valueOf(thrown.getMessage()))
        .toList()
        .toString();
  }
}
