package org.revenantdb.chaos.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The native methods of this JDK and their callers. */
class CallSitesTest {

  private static NativeCalls here() throws IOException {
    return NativeCalls.of(System.getProperty("os.name"));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void every_native_method_for_files_of_this_jdk_is_known_and_has_a_caller() throws IOException {
    CallSites sites = CallSites.scan(here());

    assertEquals(Set.of(), sites.problems());
    assertTrue(
        sites
            .callers()
            .containsAll(
                Set.of(
                    "java/io/RandomAccessFile",
                    "sun/nio/ch/FileDispatcherImpl",
                    "sun/nio/fs/UnixNativeDispatcher")),
        () -> sites.callers().toString());
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void every_changed_class_is_verified() throws IOException {
    CallSites sites = CallSites.scan(here());
    for (String caller : sites.callers()) {
      byte[] code;
      try (InputStream in = Object.class.getResourceAsStream("/" + caller + ".class")) {
        code = in.readAllBytes();
      }
      byte[] changed = sites.change(code);
      assertTrue(changed.length > code.length, caller);
      assertEquals(List.of(), ClassFile.of().verify(changed), caller);
    }
    assertEquals(Set.of(), sites.problems());
  }

  @Test
  void a_native_method_that_the_table_does_not_have_is_named() throws IOException {
    List<NativeCalls.Line> lines = new ArrayList<>(here().lines());
    lines.removeIf(line -> line.method().equals("setLength0"));

    assertEquals(
        Set.of("the native method java.io.RandomAccessFile.setLength0 is unknown"),
        CallSites.scan(new NativeCalls(lines)).problems());
  }

  @Test
  void a_method_that_this_jdk_does_not_have_is_named() throws IOException {
    List<NativeCalls.Line> lines = new ArrayList<>(here().lines());
    lines.add(new NativeCalls.Line("java/io/RandomAccessFile", "write9", FileCall.WRITE, true));
    lines.add(new NativeCalls.Line("java/io/Disk", "write0", FileCall.WRITE, true));

    assertEquals(
        Set.of(
            "no class calls the native method java.io.RandomAccessFile.write9",
            "no class calls the native method java.io.Disk.write0",
            "there is no class java.io.Disk"),
        CallSites.scan(new NativeCalls(lines)).problems());
  }

  @ParameterizedTest
  @ValueSource(strings = {"Linux", "Mac OS X", "Windows 11"})
  void the_table_of_each_platform_has_every_kind_of_change_and_no_method_twice(String os)
      throws IOException {
    List<NativeCalls.Line> lines = NativeCalls.of(os).lines();
    Set<String> names = new HashSet<>();
    Set<FileCall> meanings = new HashSet<>();
    for (NativeCalls.Line line : lines) {
      assertTrue(names.add(line.toString()), line + " occurs twice");
      meanings.add(line.meaning());
    }
    assertTrue(
        meanings.containsAll(
            Set.of(
                FileCall.OPEN_OUTPUT,
                FileCall.OPEN_RANDOM,
                FileCall.WRITE_BYTES,
                FileCall.WRITE,
                FileCall.WRITE_AT,
                FileCall.WRITE_VECTOR,
                FileCall.SET_LENGTH,
                FileCall.TRUNCATE,
                FileCall.FORCE,
                FileCall.FORCE_DESCRIPTOR,
                FileCall.FORCE_MEMORY,
                FileCall.MAP,
                FileCall.UNMAP,
                FileCall.TRANSFER_TO,
                FileCall.RENAME_FILE,
                FileCall.RENAME_PATHS,
                FileCall.DELETE_FILE,
                FileCall.DELETE_PATH,
                FileCall.CREATE_FILE,
                FileCall.CREATE_DIRECTORY,
                FileCall.CREATE_DIRECTORY_PATH)),
        () -> meanings.toString());
  }

  /** The classes of a platform that no JDK for Linux has, or of which it has another version. */
  private static Set<String> notOnLinux(String os) throws IOException {
    Set<NativeCalls.Line> lines = new HashSet<>(NativeCalls.of(os).lines());
    NativeCalls.of("Linux").lines().forEach(lines::remove);
    return lines.stream()
        .map(line -> line.type().replaceFirst(".*/", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void few_classes_of_macos_are_not_checked_by_the_scan_of_a_jdk_for_linux() throws IOException {
    assertEquals(
        Set.of("FileDispatcherImpl", "BsdFileSystem", "BsdNativeDispatcher"),
        notOnLinux("Mac OS X"));
  }

  @Test
  void the_classes_of_windows_alone_are_not_checked_by_the_scan_of_a_jdk_for_linux()
      throws IOException {
    Set<String> others = notOnLinux("Windows 11");
    assertTrue(others.remove("FileDispatcherImpl"), others::toString);
    others.removeIf(type -> type.startsWith("Windows") || type.startsWith("WinNT"));
    assertEquals(Set.of(), others);
  }

  @Test
  void the_table_of_macos_has_both_methods_that_set_attributes() throws IOException {
    List<String> names =
        NativeCalls.of("Mac OS X").lines().stream().map(NativeCalls.Line::method).toList();
    assertTrue(names.containsAll(List.of("setattrlist0", "fsetattrlist0")), names::toString);
  }

  @Test
  void a_jvm_without_the_agent_is_refused() {
    UnsupportedOperationException refused =
        org.junit.jupiter.api.Assertions.assertThrows(
            UnsupportedOperationException.class, FileAgent::install);
    assertTrue(refused.getMessage().contains("without the agent"), refused.getMessage());
  }
}
