package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.EventType;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LatchWaitEventsTest {
  private final HybridLatch latch = new HybridLatch();
  private final WaitStatistics statistics = new WaitStatistics("leaf");

  @TempDir private Path directory;

  @Test
  void wait_isRecordedWithItsClassModeAndOutcome() throws Exception {
    List<RecordedEvent> events =
        recorded(
            Duration.ZERO,
            () -> {
              waitForLatch();
              waitInVainForLatch();
            });
    assertEquals(2, events.size(), events::toString);
    assertFields(events.get(0), "leaf", "shared", "acquired");
    assertFields(events.get(1), "unnamed", "exclusive", "timed out");
    for (RecordedEvent event : events) {
      assertEquals("waiter", event.getThread().getJavaName());
      assertTrue(event.getDuration().isPositive(), event::toString);
      assertTrue(
          event.getStackTrace().getFrames().stream()
              .anyMatch(f -> f.getMethod().getType().getName().contains("LatchWaitEventsTest")),
          event::toString);
    }
  }

  @Test
  void wait_ofAVirtualThreadIsRecorded() throws Exception {
    List<RecordedEvent> events =
        recorded(
            Duration.ZERO,
            () -> {
              Thread thread =
                  Thread.ofVirtual()
                      .name("virtual")
                      .start(() ->
                          LatchWaitEvents.end(
                              LatchWaitEvents.begin(),
                              "leaf",
                              /* shared= */ false,
                              Acquisition.GIVEN_UP));
              thread.join();
            });
    assertEquals(1, events.size(), events::toString);
    assertFields(events.getFirst(), "leaf", "exclusive", "given up");
    assertEquals("virtual", events.getFirst().getThread().getJavaName());
  }

  @Test
  void wait_belowTheThresholdIsNotRecorded() throws Exception {
    List<RecordedEvent> events = recorded(Duration.ofDays(1), this::waitForLatch);
    assertEquals(List.of(), events);
  }

  @Test
  void threshold_isTenMillisecondsUnlessTheRecordingSaysOtherwise() throws Exception {
    try (Recording recording = new Recording()) {
      recording.enable(LatchWaitEvent.NAME);
      recording.start();
      Object event = LatchWaitEvents.begin();
      assertNotNull(event, "enabled");
      EventType type = EventType.getEventType(LatchWaitEvent.class);
      assertEquals(
          "10 ms",
          type.getSettingDescriptors().stream()
              .filter(setting -> setting.getName().equals("threshold"))
              .findFirst()
              .orElseThrow()
              .getDefaultValue());
      assertTrue(type.isEnabled());
    }
  }

  @Test
  void begin_returnsNothingWithoutARecording() throws Exception {
    assertNull(LatchWaitEvents.begin());
    recorded(Duration.ZERO, () -> assertNotNull(LatchWaitEvents.begin()));
    assertNull(LatchWaitEvents.begin(), "after a recording");
    LatchWaitEvents.end(null, "leaf", /* shared= */ false, Acquisition.ACQUIRED);
  }

  /** It would cost the first that waits in a JVM a quarter of a second, however short its time. */
  @Test
  void wait_doesNotStartTheFlightRecorder() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xlog:class+load:stdout:uptime",
                "--class-path",
                placeOf(HybridLatch.class)
                    + File.pathSeparator
                    + placeOf(LatchWaitEventsTest.class),
                FirstWait.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    assertTrue(output.contains("the time was out"), output);
    assertFalse(output.contains(LatchWaitEvent.class.getName() + " "), "the event was loaded");
  }

  @Test
  void withoutFlightRecorder_latchWorksAndNothingIsSaid() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--limit-modules",
                "java.base",
                "--module-path",
                placeOf(HybridLatch.class),
                "--patch-module",
                "org.revenantdb.latch=" + placeOf(LatchWaitEventsTest.class),
                "--module",
                "org.revenantdb.latch/" + WithoutFlightRecorder.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals("available false, waits 1", output.strip());
    assertEquals(0, process.waitFor());
  }

  /** A wait that is longer than nothing: the latch is released once the other thread is parked. */
  private void waitForLatch() throws InterruptedException {
    latch.acquireExclusive();
    Thread waiter =
        Thread.ofPlatform()
            .name("waiter")
            .start(() -> {
              latch.acquireShared(statistics);
              latch.releaseShared();
            });
    Await.until(() -> LatchWord.isParked(latch.wordOpaque()));
    latch.releaseExclusive();
    waiter.join();
  }

  private void waitInVainForLatch() throws InterruptedException {
    latch.acquireExclusive();
    Thread waiter =
        Thread.ofPlatform()
            .name("waiter")
            .start(() -> assertFalse(latch.tryAcquireExclusive(1_000)));
    waiter.join();
    latch.releaseExclusive();
  }

  private List<RecordedEvent> recorded(Duration threshold, Waits waits) throws Exception {
    Path file = directory.resolve("waits.jfr");
    try (Recording recording = new Recording()) {
      recording.enable(LatchWaitEvent.NAME).withThreshold(threshold).withStackTrace();
      recording.start();
      waits.run();
      recording.stop();
      recording.dump(file);
    }
    return eventsIn(file);
  }

  private static List<RecordedEvent> eventsIn(Path file) throws IOException {
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().equals(LatchWaitEvent.NAME))
        .sorted(Comparator.comparing(RecordedEvent::getStartTime))
        .toList();
  }

  private static void assertFields(
      RecordedEvent event, String latchClass, String mode, String outcome) {
    assertEquals(latchClass, event.getString("latchClass"));
    assertEquals(mode, event.getString("mode"));
    assertEquals(outcome, event.getString("outcome"));
  }

  private static String placeOf(Class<?> type) throws URISyntaxException {
    if (type == HybridLatch.class) {
      CodeSource source = type.getProtectionDomain().getCodeSource();
      return Path.of(source.getLocation().toURI()).toString();
    }
    String file = type.getSimpleName() + ".class";
    Path place = Path.of(type.getResource(file).toURI());
    return place.getParent().getParent().getParent().getParent().toString();
  }

  @FunctionalInterface
  private interface Waits {
    void run() throws Exception;
  }
}
