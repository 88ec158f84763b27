package org.revenantdb.chaos.junit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
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
      int port;
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = free.getLocalPort();
      }
      System.setProperty(OPENED, opened.toString());
      System.setProperty(CrashTestSettings.REPLAY, String.valueOf(failureOf(type)));
      System.setProperty(CrashTestSettings.DEBUG, Integer.toString(port));
      FutureTask<Events> replay = new FutureTask<>(() -> run(type));
      Thread.ofPlatform().start(replay);
      try (Socket debugger = connected(port, replay);
          DataInputStream in = new DataInputStream(debugger.getInputStream());
          DataOutputStream out = new DataOutputStream(debugger.getOutputStream())) {
        byte[] hello = "JDWP-Handshake".getBytes(US_ASCII);
        out.write(hello);
        assertArrayEquals(hello, in.readNBytes(hello.length));
        assertFalse(replay.isDone());
        assertFalse(Files.exists(opened), "the store is open already");
        goOn(out);
        Events events = replay.get();
        assertEquals(1, events.succeeded().count(), () -> message(events));
      }
      assertTrue(Files.exists(opened), "the store was opened");
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

  /** Tries until the JVM listens. It does so when it has stopped. */
  private static Socket connected(int port, FutureTask<Events> replay) throws Exception {
    while (true) {
      try {
        return new Socket(InetAddress.getLoopbackAddress(), port);
      } catch (IOException e) {
        if (replay.isDone()) {
          throw new AssertionError("nobody listened: " + message(replay.get()), e);
        }
        Thread.yield();
      }
    }
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
