package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.BrokenSubjects;

/** A kept failure is read back unchanged, and every other file is refused with a clear message. */
class FailureFileTest {

  private static final byte[] TEXT = "some bytes".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path dir;

  private static Recording recording() throws IOException {
    return new LifeRecorder<>(BrokenSubjects.Honest::new, 1, 1, Duration.ofMinutes(1)).record();
  }

  /** Durable promises, and an image without them. */
  private static FailureFile lost(String subject) throws IOException {
    Recording recording = recording();
    return new FailureFile(
        subject,
        Verdict.LOST,
        "LOST: a title = with: signs",
        4711,
        "EXT4_ORDERED",
        recording.end(),
        new DiskImage(),
        recording.promises(),
        "a story\nof two lines");
  }

  private static FailureFile lost() throws IOException {
    return lost(BrokenSubjects.Honest.class.getName());
  }

  private Path kept() throws IOException {
    Path file = FailureFile.keep(dir.resolve("made/here"), lost());
    assertNotNull(file);
    return file;
  }

  private static DiskImage image() {
    DiskImage image = new DiskImage();
    image.create(1, /* directory= */ true);
    image.link(DiskImage.ROOT, "sub", 1);
    image.create(2, /* directory= */ false);
    image.link(1, "file", 2);
    image.file(2).write(100_000, ByteBuffer.wrap(TEXT));
    image.file(2).setSize(300_001);
    image.create(3, /* directory= */ false);
    image.link(DiskImage.ROOT, "empty", 3);
    image.create(4, /* directory= */ true);
    image.link(1, "empty directory", 4);
    return image;
  }

  @Test
  void file_thatWasKept_isReadAsItWas() throws IOException {
    FailureFile lost = lost();
    FailureFile full =
        new FailureFile(
            lost.subject(),
            lost.verdict(),
            lost.title(),
            lost.seed(),
            lost.crash(),
            lost.seq(),
            image(),
            lost.promises(),
            lost.story());
    Path file = FailureFile.keep(dir, full);
    assertNotNull(file);
    FailureFile read = FailureFile.read(file);
    assertEquals(lost.subject(), read.subject());
    assertEquals(Verdict.LOST, read.verdict());
    assertEquals(lost.title(), read.title());
    assertEquals(4711, read.seed());
    assertEquals("EXT4_ORDERED", read.crash());
    assertEquals(lost.seq(), read.seq());
    assertEquals(lost.story(), read.story());
    assertEquals(lost.promises().events().size(), read.promises().events().size());
    assertEquals(image().hash(), read.image().hash());
    assertEquals(image().paths().keySet(), read.image().paths().keySet());
  }

  @Test
  void file_thatWasKept_isTheOnlyOneInItsDirectory() throws IOException {
    Path file = kept();
    try (Stream<Path> all = Files.list(file.getParent())) {
      assertEquals(List.of(file), all.toList());
    }
    assertEquals(file, kept(), "the same failure has the same name");
  }

  @Test
  void failure_withoutADirectory_isNotKept() throws IOException {
    assertNull(FailureFile.keep(null, lost()));
  }

  @Test
  void replay_givesTheSameVerdict_asOftenAsOneLikes() throws IOException {
    FailureFile failure = FailureFile.read(kept());
    assertEquals(Verdict.LOST, failure.replay().verdict());
    assertEquals(Verdict.LOST, failure.replay().verdict());
  }

  @Test
  void replay_ofAMissingSubject_isRefused() throws IOException {
    IOException e = assertThrows(IOException.class, () -> lost("org.example.Gone").replay());
    assertSays(e, "org.example.Gone, which is not here");
  }

  @Test
  void replay_ofAClassThatIsNotASubject_isRefused() {
    IOException e = assertThrows(IOException.class, () -> lost("java.lang.String").replay());
    assertSays(e, "java.lang.String");
  }

  private static void assertSays(IOException e, String what) {
    assertTrue(String.valueOf(e.getMessage()).contains(what), e::toString);
  }

  private void assertRefused(Path file, String why) {
    IOException e = assertThrows(IOException.class, () -> FailureFile.read(file));
    assertSays(e, why);
    assertSays(e, file.toString());
  }

  @Test
  void file_thatIsMissing_isRefused() {
    assertRefused(dir.resolve("none.zip"), "there is no file");
  }

  @Test
  void directory_isRefused_withAHint() {
    assertRefused(dir, "is a directory; give the .zip");
  }

  @Test
  void emptyName_isRefused_withAHint() {
    assertRefused(Path.of(""), "the name of a file is missing; give the .zip");
  }

  @Test
  void file_thatIsNotAZip_isRefused() throws IOException {
    assertRefused(Files.write(dir.resolve("text.zip"), TEXT), "no file of a failure");
  }

  @Test
  void file_thatIsCutShort_isRefusedWhereverItEnds() throws IOException {
    byte[] whole = Files.readAllBytes(kept());
    for (int length = 0; length < whole.length; length += 37) {
      Path cut = Files.write(dir.resolve("cut.zip"), Arrays.copyOf(whole, length));
      assertRefused(cut, "no file of a failure");
    }
  }

  /**
   * Any byte may be wrong: then the file is refused with a clear message, or the byte made no
   * difference.
   */
  @Test
  void file_withAWrongByte_isRefusedWithAMessageOrReadable() throws IOException {
    byte[] whole = Files.readAllBytes(kept());
    for (int at = 0; at < whole.length; at += 11) {
      byte[] wrong = whole.clone();
      wrong[at] ^= 0x55;
      Path file = Files.write(dir.resolve("wrong.zip"), wrong);
      try {
        FailureFile.read(file);
      } catch (IOException e) {
        assertSays(e, file.toString());
      }
    }
  }

  @Test
  void file_ofAnotherVersion_isRefused() throws IOException {
    assertRefused(changed("version=1", "version=2"), "its version is \"2\"");
  }

  @Test
  void file_ofAnotherFormat_isRefused() throws IOException {
    assertRefused(changed("revenant-chaos", "some-other"), "its format is \"some-other failure\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"verdict=LOST", "seed=4711"})
  void file_withAWrongProperty_isRefused(String property) throws IOException {
    assertRefused(changed(property, property + "x"), "is damaged");
  }

  @Test
  void file_thatLacksAProperty_isRefused() throws IOException {
    assertRefused(changed("crash=", "crush="), "says no crash");
  }

  @ParameterizedTest
  @ValueSource(strings = {"failure.properties", "promises", "story.txt"})
  void file_thatLacksAPart_isRefused(String part) throws IOException {
    Map<String, byte[]> parts = parts();
    parts.remove(part);
    assertRefused(zip(parts), "has no \"" + part + "\"");
  }

  @Test
  void file_whosePromisesAreDamaged_isRefused() throws IOException {
    Map<String, byte[]> parts = parts();
    parts.put("promises", TEXT);
    assertRefused(zip(parts), "is damaged: this is not a log of promises");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "image/../../climbed",
        "image/../climbed",
        "image//absolute",
        "image/.",
        "image/..",
        "image/",
        "image/sub/../../x",
        "image/a\0b"
      })
  void file_withAPathOutOfTheImage_isRefused(String path) throws IOException {
    Map<String, byte[]> parts = parts();
    parts.put(path, TEXT);
    assertRefused(zip(parts), "is damaged");
  }

  @ParameterizedTest
  @ValueSource(strings = {"evil.class", "../evil", "/etc/passwd", "images/x", "Promises"})
  void file_withAForeignEntry_isRefused(String name) throws IOException {
    Map<String, byte[]> parts = parts();
    parts.put(name, TEXT);
    assertRefused(zip(parts), "a run keeps no \"" + name + "\"");
  }

  @Test
  void file_whoseDirectoryIsMissing_isRefused() throws IOException {
    Map<String, byte[]> parts = parts();
    parts.put("image/none/x", TEXT);
    assertRefused(zip(parts), "a directory is missing");
  }

  @Test
  void file_whoseFileIsADirectory_isRefused() throws IOException {
    Map<String, byte[]> parts = parts();
    parts.put("image/x", TEXT);
    parts.put("image/x/y", TEXT);
    assertRefused(zip(parts), "a directory is missing");
  }

  @Test
  void file_withAFileAndADirectoryOfOneName_isRefused() throws IOException {
    Map<String, byte[]> parts = parts();
    parts.put("image/x", TEXT);
    parts.put("image/x/", new byte[0]);
    assertRefused(zip(parts), "is there twice");
  }

  private Path changed(String from, String to) throws IOException {
    Map<String, byte[]> parts = parts();
    String text = new String(parts.get("failure.properties"), StandardCharsets.UTF_8);
    assertTrue(text.contains(from), text);
    parts.put("failure.properties", text.replace(from, to).getBytes(StandardCharsets.UTF_8));
    return zip(parts);
  }

  private Map<String, byte[]> parts() throws IOException {
    Map<String, byte[]> parts = new LinkedHashMap<>();
    try (ZipFile zip = new ZipFile(kept().toFile())) {
      for (ZipEntry entry : zip.stream().toList()) {
        parts.put(entry.getName(), zip.getInputStream(entry).readAllBytes());
      }
    }
    return parts;
  }

  private Path zip(Map<String, byte[]> parts) throws IOException {
    Path file = dir.resolve("made.zip");
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      for (Map.Entry<String, byte[]> part : parts.entrySet()) {
        zip.putNextEntry(new ZipEntry(part.getKey()));
        zip.write(part.getValue());
        zip.closeEntry();
      }
    }
    return file;
  }
}
