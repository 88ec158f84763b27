package org.revenantdb.chaos.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A site is the line that a person would name. */
class SiteTest {

  private static final StackTraceElement CHANNEL = frame("sun.nio.ch.FileChannelImpl", "force", 9);
  private static final StackTraceElement RECORDER =
      frame("org.revenantdb.chaos.recording.RecordingFileChannel", "force", 8);
  private static final StackTraceElement SEAM = frame("store.file.Disk", "force", 7);
  private static final StackTraceElement NESTED = frame("store.file.Disk$Open", "force", 6);
  private static final StackTraceElement LIKE_IT = frame("store.file.Disks", "force", 5);
  private static final StackTraceElement LOG = frame("store.log.Log", "flush", 4);
  private static final StackTraceElement THREAD = frame("java.lang.Thread", "run", 3);

  private static StackTraceElement frame(String type, String method, int line) {
    return new StackTraceElement(type, method, "x.java", line);
  }

  private static Site site(List<String> seam, StackTraceElement... frames) {
    return Site.of(new CallStack(Stream.of(frames).toList()), seam, "log/*");
  }

  @Test
  void without_seam_isTheFirstFrameOutsideJdkAndFileLayer() {
    Site site = site(List.of(), CHANNEL, RECORDER, SEAM, LOG, THREAD);
    assertEquals(new Site("store.file.Disk", "force", 7, "log/*"), site);
  }

  @Test
  void seam_ofAClass_includesItsNestedClassesAndNoSimilarNames() {
    List<String> seam = List.of("store.file.Disk");
    assertEquals("store.log.Log", site(seam, NESTED, SEAM, LOG).className());
    assertEquals("store.file.Disks", site(seam, SEAM, LIKE_IT, LOG).className());
  }

  @Test
  void seam_ofAPackage_includesEverythingBelowIt() {
    assertEquals("store.log.Log", site(List.of("store.file."), LIKE_IT, LOG).className());
  }

  @Test
  void stack_thatIsAllSeam_isItsOutermostFrame() {
    assertEquals("store.file.Disk", site(List.of("store.file."), NESTED, SEAM, THREAD).className());
  }

  @Test
  void stack_thatIsUnknown_hasNoName() {
    assertEquals("?.? (log/*)", site(List.of()).toString());
  }

  @Test
  void text_looksLikeAPlaceInTheSource() {
    assertEquals("store.log.Log.flush:4 (log/*)", site(List.of(), LOG).toString());
  }

  @Test
  void tests_ofTheFrameworkItself_areNotTheFileLayer() {
    StackTraceElement own = frame("org.revenantdb.chaos.crash.SomeTest$Store", "put", 2);
    assertEquals(2, site(List.of(), RECORDER, own).line());
  }
}
