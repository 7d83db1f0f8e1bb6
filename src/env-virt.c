/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which hypervisor and which container this runs in, by what each of them shows of itself. What shows nothing (an Arm
 * guest whose firmware names no hypervisor) is "none seen", which is not the same as "none".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "env-private.h"
#include "sysroot.h"

/*
 * X("signature", "name"): the twelve bytes of CPUID leaf 40000000H. Sources: Linux
 * Documentation/virt/kvm/x86/cpuid.rst; Microsoft Hypervisor Top Level Functional Specification 2.4; Xen
 * public/arch-x86/cpuid.h; QEMU target/i386; VMware KB 1009458; each vendor's own documents.
 */
#define HYPERVISOR_SIGNATURES(X) \
	X("KVMKVMKVM", "KVM") \
	X("Linux KVM Hv", "KVM (Hyper-V interface)") \
	X("Microsoft Hv", "Hyper-V") \
	X("VMwareVMware", "VMware") \
	X("XenVMMXenVMM", "Xen") \
	X("TCGTCGTCGTCG", "QEMU TCG (emulated)") \
	X("bhyve bhyve ", "bhyve") \
	X("VBoxVBoxVBox", "VirtualBox") \
	X("prl hyperv  ", "Parallels") \
	X(" lrpepyh vr", "Parallels") \
	X("ACRNACRNACRN", "ACRN") \
	X("QNXQVMBSQG", "QNX") \
	X("SRESRESRESRE", "LMHS") \
	X("Jailhouse", "Jailhouse") \
	X("NVMMNVMMNVMM", "NVMM") \
	X("OpenBSDVMM58", "OpenBSD vmm") \
	X("HAXMHAXMHAXM", "HAXM") \
	X("UnisysSpar64", "Unisys s-Par")

/* X("text in DMI", "name"): vendor or product names that only virtual machines have. */
#define HYPERVISOR_DMI(X) \
	X("QEMU", "KVM or QEMU") \
	X("KVM", "KVM") \
	X("VMware", "VMware") \
	X("VirtualBox", "VirtualBox") \
	X("innotek GmbH", "VirtualBox") \
	X("Virtual Machine", "Hyper-V") \
	X("Xen", "Xen") \
	X("Bochs", "Bochs") \
	X("Parallels", "Parallels") \
	X("BHYVE", "bhyve") \
	X("Apple Virtualization", "Apple Virtualization") \
	X("Google Compute Engine", "KVM (Google Compute Engine)") \
	X("OpenStack", "KVM (OpenStack)") \
	X("Cloud Hypervisor", "KVM (Cloud Hypervisor)") \
	X("Alibaba Cloud ECS", "KVM (Alibaba Cloud)")

/* X("text in device tree", "name"): of hypervisor/compatible and of the root's compatible. */
#define HYPERVISOR_TREE(X) \
	X("linux,kvm", "KVM") \
	X("xen", "Xen") \
	X("vmware", "VMware") \
	X("qemu,pseries", "KVM or QEMU (pseries)") \
	X("linux,dummy-virt", "KVM or QEMU (virt)") \
	X("riscv-virtio", "KVM or QEMU (virt)")

struct known {
	const char *text, *name;
};
#define X(text, name) { text, name },
#if defined(__x86_64__) || defined(__i386__)
static const struct known signatures[] = { HYPERVISOR_SIGNATURES(X) };
#endif
static const struct known dmi_names[] = { HYPERVISOR_DMI(X) };
static const struct known tree_names[] = { HYPERVISOR_TREE(X) };
#undef X

static const char *find_in(const struct known *known, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(text, known[i].text))
			return known[i].name;
	return NULL;
}

/*
 * The name that the hypervisor gives of itself, malloc'ed; NULL: the CPUID bit is clear, or this is another
 * architecture. Native only.
 */
static char *ask_cpuid(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;
	char text[13] = "", *name = NULL;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
		return NULL;
	/*
	 * A hypervisor that shows another one's interface has its own at the next multiple of 100H: the last one
	 * counts.
	 */
	for (unsigned int leaf = 0x40000000; leaf <= 0x40000100; leaf += 0x100) {
		const char *known = NULL;
		char *old = name;

		__cpuid(leaf, a, b, c, d);
		if ((a & 0xffff0000) != 0x40000000 && leaf != 0x40000000)
			break;
		memcpy(text, (unsigned int[]){ b, c, d }, 12);
		if (!*text)
			break;
		for (size_t i = 0; i < ARRAY_SIZE(signatures) && !known; i++)
			if (strncmp(signatures[i].text, text, strlen(signatures[i].text)) == 0)
				known = signatures[i].name;
		if (!known)
			known = text;
		name = old && strcmp(old, known) != 0 ? util_asprintf("%s (shows the interface of %s)", known, old)
						      : util_strdup(known);
		free(old);
	}
	return name ? name : util_strdup("present, gives no name");
#else
	return NULL;
#endif
}

/* "vendor product" of DMI, malloc'ed and cleaned, or NULL. */
static char *read_dmi(const char *root)
{
	char *vendor = sysroot_read(root, NULL, NULL, "/sys/class/dmi/id/sys_vendor");
	char *product = sysroot_read(root, NULL, NULL, "/sys/class/dmi/id/product_name"), *both = NULL;

	if (vendor || product)
		both = sysroot_clean(util_asprintf("%s %s", vendor ? vendor : "", product ? product : ""));
	free(vendor);
	free(product);
	return both;
}

/* A device tree property is a list of strings with NULs between them: one text, malloc'ed, or NULL. */
static char *read_property(const char *root, const char *path)
{
	size_t length;
	char *text = sysroot_read(root, &length, NULL, "%s", path);

	for (size_t i = 0; text && i < length; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return text;
}

static const char *from_tree(const char *root)
{
	char *hypervisor = read_property(root, "/proc/device-tree/hypervisor/compatible");
	char *machine = read_property(root, "/proc/device-tree/compatible");
	const char *name = NULL;

	if (hypervisor) {
		name = find_in(tree_names, ARRAY_SIZE(tree_names), hypervisor);
		if (!name)
			name = "present, of an unknown kind (device tree)";
	} else if (machine) {
		name = find_in(tree_names, ARRAY_SIZE(tree_names), machine);
	}
	/* PowerVM: every system is a partition. QEMU's pseries machine has the same properties and was found above. */
	if (!name && sysroot_exists(root, "/proc/device-tree/ibm,partition-name"))
		name = "PowerVM LPAR";
	if (!name && sysroot_exists(root, "/proc/device-tree/ibm,lpar-capable") &&
	    !sysroot_exists(root, "/proc/device-tree/ibm,opal"))
		name = "PowerVM LPAR";
	free(hypervisor);
	free(machine);
	return name;
}

/* s390: every system runs in a partition; below z/VM or KVM the innermost "VM00" says which. malloc'ed or NULL. */
static char *from_sysinfo(const char *root)
{
	char *text = sysroot_read(root, NULL, NULL, "/proc/sysinfo"), *line, *name = NULL;

	if (!text)
		return NULL;
	line = strstr(text, "VM00 Control Program:");
	/* QEMU's name for a guest that it emulates; it shows KVM's control program all the same. */
	if (strstr(text, "TCGguest")) {
		name = util_strdup("QEMU TCG (emulated)");
	} else if (line) {
		line += strlen("VM00 Control Program:");
		line[strcspn(line, "\n")] = '\0';
		name = util_strdup(sysroot_clean(line));
	} else if (strstr(text, "LPAR Number:") || strstr(text, "LPAR Name:")) {
		name = util_strdup("PR/SM LPAR");
	}
	free(text);
	return name;
}

/*
 * Xen's own directory. The guest type is shown since Linux 4.13; without it the control domain is known to be
 * paravirtual on x86.
 */
static char *from_xen(struct env *e, const char *root)
{
	char *type = sysroot_read(root, NULL, NULL, "/sys/hypervisor/type"), *guest, *capabilities, *name = NULL;

	if (!type || strcmp(type, "xen") != 0) {
		name = type && *type ? util_strdup(sysroot_clean(type)) : NULL;
		free(type);
		return name;
	}
	guest = sysroot_read(root, NULL, NULL, "/sys/hypervisor/guest_type");
	capabilities = sysroot_read(root, NULL, NULL, "/proc/xen/capabilities");
	if (guest && *guest) {
		e->paravirt_irq = strcmp(guest, "PV") == 0;
		name = util_asprintf("Xen (%s)", sysroot_clean(guest));
	} else if (capabilities && strstr(capabilities, "control_d")) {
		e->paravirt_irq = env_is_x86(e);
		name = util_strdup("Xen (control domain)");
	} else {
		name = util_strdup("Xen (guest type not shown)");
	}
	free(type);
	free(guest);
	free(capabilities);
	return name;
}

static bool has_flag(const char *flags, const char *flag)
{
	size_t length = strlen(flag);

	for (const char *at = flags; at && (at = strstr(at, flag)); at += length)
		if ((at == flags || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

static void read_hypervisor(struct env *e, const char *root, const char *flags)
{
	char *name = from_xen(e, root), *dmi = read_dmi(root);
	const char *dmi_name = dmi ? find_in(dmi_names, ARRAY_SIZE(dmi_names), dmi) : NULL, *found;
	bool flag = has_flag(flags, "hypervisor");

	if (!name && e->emulated)
		name = util_strdup("user-mode emulator (cpuinfo is of another CPU)");
	if (!name && !*root)
		name = ask_cpuid();
	if (!name && strcmp(e->vendor, "User Mode Linux") == 0)
		name = util_strdup("User Mode Linux");
	if (!name)
		name = from_sysinfo(root);
	if (!name && (found = from_tree(root)))
		name = util_strdup(found);
	/* Names are reused ("Amazon EC2" is also bare metal): on x86 the CPU's flag decides, and DMI only names. */
	if (!name && dmi_name && (flag || !env_is_x86(e)))
		name = util_strdup(dmi_name);
	if (!name && flag)
		name = dmi ? util_asprintf("present (%s)", dmi)
			   : util_strdup("present, not named (cpuinfo flag \"hypervisor\")");
	/* PVM guests are KVM guests whose kernel runs in user mode; Linux marks them with a flag of its own. */
	if (has_flag(flags, "kvm_pvm_guest") || has_flag(flags, "pvm_guest")) {
		e->paravirt_irq = true;
		free(name);
		name = util_strdup("KVM (PVM: paravirtual)");
	}
	if (has_flag(flags, "xenpv"))
		e->paravirt_irq = true;

	if (name && strstr(name, "TCG"))	/* the CPU's name is QEMU's choice, its speed is not that CPU's */
		e->emulated = true;
	e->hypervisor = name != NULL;
	if (name)
		env_set(e, ENV_HYPERVISOR, dmi && !strchr(name, '(') ? "%s (%s)" : "%s", name, dmi);
	else if (flags || (!*root && env_is_x86(e)))
		env_set(e, ENV_HYPERVISOR, "none");
	else if (dmi || sysroot_exists(root, "/proc/device-tree") || sysroot_exists(root, "/proc/sysinfo"))
		env_set(e, ENV_HYPERVISOR, "none seen");
	else
		env_lack(e, ENV_HYPERVISOR, "nothing tells: no flags in /proc/cpuinfo, and none of /sys/class/dmi/id, "
			 "/proc/device-tree, /sys/hypervisor and /proc/sysinfo");
	free(name);
	free(dmi);
}

/* X("text in a cgroup path", "runtime") */
#define CONTAINER_CGROUPS(X) \
	X("kubepods", "Kubernetes") \
	X("/docker", "Docker") \
	X("libpod", "Podman") \
	X("containerd", "containerd") \
	X("crio-", "CRI-O") \
	X("/lxc", "LXC") \
	X("machine-", "systemd-nspawn or libvirt")

static void read_container(struct env *e, const char *root)
{
#define X(text, name) { text, name },
	static const struct known cgroups[] = { CONTAINER_CGROUPS(X) };
#undef X
	static const char *const files[] = { "/proc/1/cgroup", "/proc/self/cgroup" };
	const char *name = NULL;
	char *text = sysroot_read(root, NULL, NULL, "/run/systemd/container"), *engine;

	if (text && *text) {
		env_set(e, ENV_CONTAINER, "%s", text);
		free(text);
		return;
	}
	free(text);
	text = sysroot_read(root, NULL, NULL, "/run/.containerenv");
	if (text) {
		engine = strstr(text, "engine=\"");
		if (engine) {
			engine += strlen("engine=\"");
			engine[strcspn(engine, "\"\n")] = '\0';
		}
		env_set(e, ENV_CONTAINER, "%s", engine && *engine ? engine : "Podman");
		free(text);
		return;
	}
	if (sysroot_exists(root, "/.dockerenv"))
		name = "Docker (/.dockerenv)";
	else if (sysroot_exists(root, "/proc/vz") && !sysroot_exists(root, "/proc/bc"))
		name = "OpenVZ";
	for (size_t i = 0; i < ARRAY_SIZE(files) && !name; i++) {
		text = sysroot_read(root, NULL, NULL, "%s", files[i]);
		if (text)
			name = find_in(cgroups, ARRAY_SIZE(cgroups), text);
		free(text);
	}
	env_set(e, ENV_CONTAINER, "%s", name ? name : "none seen");
}

void env_read_virt(struct env *e, const char *root, const char *flags)
{
	read_hypervisor(e, root, flags);
	read_container(e, root);
}
