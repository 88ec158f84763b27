package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;

/**
 * Reads the initial content of a directory. Two names of one file become two files in the image,
 * and a symbolic link becomes the file that it leads to. Both are noted as gaps.
 */
final class StartScan {

  private final Recorder recorder;
  private final Set<Object> keys = new HashSet<>();

  StartScan(Recorder recorder) {
    this.recorder = recorder;
  }

  /**
   * Names and bytes. For a disk in memory its image, which costs nothing and contains second names.
   */
  DiskImage content(Path directory) throws IOException {
    if (directory.getFileSystem() instanceof MemoryFileSystem memory
        && directory.equals(memory.root())) {
      return memory.image().fork();
    }
    names(directory);
    return DiskImage.of(directory);
  }

  /** Only names, which is enough without a trace: files are empty in the image. */
  DiskImage names(Path directory) throws IOException {
    DiskImage image = new DiskImage();
    scan(directory, DiskImage.ROOT, image, new int[] {DiskImage.ROOT});
    return image;
  }

  private void scan(Path directory, int node, DiskImage image, int[] last) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        BasicFileAttributes attributes =
            Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        boolean isDirectory = Files.isDirectory(entry);
        int child = ++last[0];
        image.create(child, isDirectory);
        image.link(node, String.valueOf(entry.getFileName()), child);
        Object key = attributes.fileKey();
        if (attributes.isSymbolicLink()) {
          recorder.wayAround("a symbolic link was there: " + entry);
        } else if (!isDirectory && key != null && !keys.add(key)) {
          recorder.wayAround("a file with another name was there: " + entry);
        }
        if (isDirectory) {
          scan(entry, child, image, last);
        }
      }
    }
  }
}
