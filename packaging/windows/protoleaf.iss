; Inno Setup 6: one installer for one person or for all, from the folder that PyInstaller made.
;   iscc /DVersion=0.1.0 /DProgram=build\installer\cpu\program\protoleaf packaging\windows\protoleaf.iss
; To sign: iscc "/Ssigned=signtool sign /fd sha256 /tr http://timestamp.digicert.com /td sha256 /a $f" /DSign ... (docs/releasing.md).

#ifndef Version
  #error Say the version: /DVersion=0.1.0
#endif
#ifndef Program
  #error Say where PyInstaller left the program's folder: /DProgram=...
#endif
#ifndef Package
  #define Package "protoleaf"
#endif

[Setup]
AppId={{5B0F7B62-5C1E-4E0B-9C39-0E3D5B2C7A41}
AppName=Protoleaf
AppVersion={#Version}
AppPublisher=The Protoleaf authors
AppPublisherURL=https://github.com/protoleaf/protoleaf
AppSupportURL=https://github.com/protoleaf/protoleaf/issues
VersionInfoVersion={#Version}
SourceDir=..\..
OutputDir=dist
OutputBaseFilename={#Package}_{#Version}_windows_x64
DefaultDirName={autopf}\Protoleaf
DefaultGroupName=Protoleaf
DisableProgramGroupPage=yes
DisableWelcomePage=yes
LicenseFile=LICENSE
SetupIconFile=build\installer\protoleaf.ico
UninstallDisplayIcon={app}\protoleaf.exe
UninstallDisplayName=Protoleaf
ShowLanguageDialog=auto
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
Compression=lzma2/max
SolidCompression=yes
ChangesAssociations=yes
CloseApplications=yes
WizardStyle=modern
#ifdef Sign
SignTool=signed
SignedUninstaller=yes
#endif

; Inno Setup uses the system's language, else the first. Not every version includes Chinese.
#define Chinese "Languages\ChineseSimplified.isl"
#define HasChinese FileExists(AddBackslash(CompilerPath) + Chinese)

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"
Name: "es"; MessagesFile: "compiler:Languages\Spanish.isl"
Name: "fr"; MessagesFile: "compiler:Languages\French.isl"
Name: "pt_BR"; MessagesFile: "compiler:Languages\BrazilianPortuguese.isl"
#if HasChinese
Name: "zh_CN"; MessagesFile: "compiler:{#Chinese}"
#endif

[CustomMessages]
en.ProjectKind=Protoleaf project
de.ProjectKind=Protoleaf-Projekt
es.ProjectKind=Proyecto de Protoleaf
fr.ProjectKind=Projet Protoleaf
pt_BR.ProjectKind=Projeto do Protoleaf
#if HasChinese
zh_CN.ProjectKind=Protoleaf 项目
#endif

[Files]
; [InstallDelete] removes the modules of older versions.
Source: "{#Program}\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs
Source: "NOTICE"; DestDir: "{app}"; Flags: ignoreversion
Source: "build\installer\project.ico"; DestDir: "{app}"; Flags: ignoreversion

[InstallDelete]
Type: filesandordirs; Name: "{app}\_internal"

[Tasks]
Name: "desktop"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[Icons]
Name: "{group}\Protoleaf"; Filename: "{app}\protoleaf.exe"
Name: "{autodesktop}\Protoleaf"; Filename: "{app}\protoleaf.exe"; Tasks: desktop

[Registry]
Root: HKA; Subkey: "Software\Classes\.protoleaf"; ValueType: string; ValueData: "Protoleaf.Project"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.protoleafz"; ValueType: string; ValueData: "Protoleaf.Project"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Protoleaf.Project"; ValueType: string; ValueData: "{cm:ProjectKind}"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Protoleaf.Project\DefaultIcon"; ValueType: string; ValueData: "{app}\project.ico"
Root: HKA; Subkey: "Software\Classes\Protoleaf.Project\shell\open\command"; ValueType: string; ValueData: """{app}\protoleaf.exe"" ""%1"""

[Run]
Filename: "{app}\protoleaf.exe"; Description: "{cm:LaunchProgram,Protoleaf}"; Flags: nowait postinstall skipifsilent

; Nothing outside of {app} is removed: projects, backups, added backbones and settings are user data.
